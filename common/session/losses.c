/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "bpf/map_backend.h"
#include "cli/out.h"
#include "cli/row.h"
#include "proc/proc.h"
#include "session/losses.h"
#include "sym/stack_losses.h"

enum { NAMED = 3 };	/* processes in text */

static int largest_first(const void *a, const void *b)
{
	const struct loss *p = a, *q = b;

	if (p->count.n != q->count.n)
		return p->count.n < q->count.n ? 1 : -1;
	return p->key.pid < q->key.pid ? -1 : p->key.pid > q->key.pid;
}

void losses_add(struct losses *l, unsigned pid, enum lost why, unsigned long long n)
{
	struct loss *loss;

	if (l->n == LOST_PROCESSES)
		return;
	l->list = xrealloc(l->list, l->n + 1, sizeof(*l->list));
	loss = &l->list[l->n++];
	*loss = (struct loss){ .key = { pid, why }, .count.n = n };
	if (!proc_comm(pid, loss->count.comm))
		strcpy(loss->count.comm, "?");
}

void losses_read(struct losses *l, const struct bpf_map *map)
{
	const size_t most = l->n + LOST_PROCESSES;
	struct lost_key *last = NULL;
	struct loss *loss;

	l->list = xrealloc(l->list, most, sizeof(*l->list));
	while (l->n < most) {
		loss = &l->list[l->n];
		if (bmap_next(map, last, &loss->key))
			break;
		last = &loss->key;
		bmap_lookup(map, &loss->key, &loss->count);
		loss->count.comm[sizeof(loss->count.comm) - 1] = 0;
		l->n++;
	}
	qsort(l->list, l->n, sizeof(*l->list), largest_first);
}

/* Returns " (process 12 (a): 34, 56 (b): 7, ...)", the processes that lost most for this reason, or "".  It is for
 * warning(), which escapes what it prints. */
static char *losses_text(const struct losses *l, enum lost why)
{
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);
	int named = 0;

	if (!f)
		die(ENOMEM, "a string");
	for (size_t i = 0; i < l->n && named <= NAMED; i++) {
		const struct loss *loss = &l->list[i];

		if (loss->key.why != why)
			continue;
		if (named == NAMED)
			fputs(", ...", f);
		else
			fprintf(f, "%s%u (%s): %llu", named ? ", " : " (process ", loss->key.pid,
				loss->count.comm, loss->count.n);
		named++;
	}
	if (named)
		putc(')', f);
	fclose(f);
	return text;
}

/* Returns what a process lost for any reason. */
static unsigned long long sum_of(const struct losses *l, size_t first)
{
	unsigned long long sum = 0;

	for (size_t i = first; i < l->n; i++)
		if (l->list[i].key.pid == l->list[first].key.pid)
			sum += l->list[i].count.n;
	return sum;
}

static bool is_first(const struct losses *l, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (l->list[i].key.pid == l->list[at].key.pid)
			return false;
	return true;
}

struct lost_row {
	unsigned long long lost, stacks;
	int pid;
	const char *comm;
	struct out_print processes, reasons;
};

#define AT(f) offsetof(struct lost_row, f)
static const struct field process_fields[] = {
	{ "pid", NULL, 0, OUT_INT, AT(pid) },
	{ "comm", NULL, 0, OUT_STR, AT(comm) },	/* its name */
	{ "lost", NULL, 0, OUT_UINT, AT(lost) },	/* what it lost */
	{ 0 }
};

static void processes_json(FILE *f, const void *of)
{
	const struct losses *l = of;
	const char *gap = "";

	putc('[', f);
	for (size_t i = 0; i < l->n; i++) {
		if (!is_first(l, i))
			continue;
		fputs(gap, f);
		out_object(process_fields, &(struct lost_row){
			.pid = l->list[i].key.pid, .comm = l->list[i].count.comm, .lost = sum_of(l, i) });
		gap = ",";
	}
	putc(']', f);
}

void losses_free(struct losses *l)
{
	free(l->list);
	*l = (struct losses){ 0 };
}

OUT_WORD(row_type, "lost");

enum { STACKS = 3, REASONS };
static const struct field all_fields[] = {	/* for JSON */
	{ "type", NULL, 0, &row_type, 0 },	/* the last line, if anything was lost */
	{ "lost", NULL, 0, OUT_UINT, AT(lost) },	/* records, calls and other losses in all */
	{ "processes", NULL, 0, OUT_PRINT, AT(processes) },	/* array of process: most losses first, at most 1024 */
	[STACKS] = { "incomplete_stacks", NULL, 0, OUT_UINT, AT(stacks) },	/* if any: call stacks with notes */
	[REASONS] = { "incomplete_by", NULL, 0, OUT_PRINT, AT(reasons) },	/* if any: object: by reason */
	{ 0 }
};

static void print_json(const struct losses *l, unsigned long long total,
		       const struct stack_losses *stacks)
{
	struct field fields[sizeof(all_fields) / sizeof(*all_fields)];

	memcpy(fields, all_fields, sizeof(fields));
	if (!stacks->stacks)
		fields[STACKS].key = fields[REASONS].key = NULL;
	out_row(fields, &(struct lost_row){
		.lost = total, .processes = { processes_json, l },
		.stacks = stacks->stacks,
		.reasons = { stack_losses_json, stacks },
	});
}

/* A loss of one and of several things, and what follows. */
static const struct { const char *one, *several, *how; } what[LOST_MAX] = {
	[LOST_RECORD] = { "record", "records", "lost: the ring buffer was full" },
	[LOST_THREAD] = { "call", "calls", "missed: no memory for the state of a thread" },
	[LOST_RETURN] = { "call", "calls", "never returned (longjmp, exception or thread exit)" },
	[LOST_READ] = { "argument", "arguments", "could not be read" },
	[LOST_PROCESS] = { "process exit or exec", "process exits or execs", "missed" },
	[LOST_GROUP] = { "call", "calls", "not counted: group table full" },
	[LOST_LATE] = { "record", "records", "not handled: there was no time after the signal" },
	[LOST_PINNED] = { "pinned allocation", "pinned allocations", "table full: copies of it count as pageable" },
	[LOST_PIECES] = { "copy batch", "copy batches", "too long to sum up: bytes are missing" },
	[LOST_ANSWER] = { "call", "calls", "missed: the tool has not answered the process" },
	[LOST_WITHDRAWN] = { "call", "calls", "missed: the process is under a seccomp filter of its own, or has another user" },
	[LOST_COMPLETION] = { "event or stream", "events or streams", "not followed: the state of their NCCL operations is unknown" },
	[LOST_PROC_TABLE_FULL] = { "call", "calls", "not recorded: too many processes" },
};

void losses_print(struct losses *l, const unsigned long long *lost, const struct stack_losses *stacks)
{
	unsigned long long total = 0;

	for (int i = 0; i < LOST_MAX; i++) {
		char *who = losses_text(l, i);

		total += lost[i];
		if (lost[i])
			warning(0, "%llu %s %s%s", lost[i],
				lost[i] == 1 ? what[i].one : what[i].several, what[i].how, who);
		free(who);
	}
	stack_losses_warn(stacks);
	if (out_is_json() && (total || stacks->stacks))
		print_json(l, total, stacks);
	losses_free(l);
	out_flush();
}
