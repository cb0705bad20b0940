/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/libbpf.h>
#include "base/clock.h"
#include "base/die.h"
#include "bpf/map_backend.h"
#include "cli/out.h"
#include "cli/row.h"
#include "probe/watch.h"
#include "session/event_loop.h"
#include "session/gpuprobe.h"
#include "session/inject.h"
#include "session/session.h"
#include "session/signals.h"
#include "sym/stack_losses.h"

enum { NAMED = 3 };	/* processes in text */

static int largest_first(const void *a, const void *b)
{
	const struct loss *p = a, *q = b;

	if (p->count.n != q->count.n)
		return p->count.n < q->count.n ? 1 : -1;
	return p->key.pid < q->key.pid ? -1 : p->key.pid > q->key.pid;
}

/* Reads the map lost_by. */
static void losses_read(struct losses *l, const struct bpf_map *map)
{
	struct lost_key *last = NULL;
	struct loss *loss;

	l->list = xcalloc(LOST_PROCESSES, sizeof(*l->list));
	while (l->n < LOST_PROCESSES) {
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
	struct out_print processes;
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

enum { STACKS = 3 };
static const struct field all_fields[] = {	/* for JSON */
	{ "type", NULL, 0, &row_type, 0 },	/* the last line, if anything was lost */
	{ "lost", NULL, 0, OUT_UINT, AT(lost) },	/* records, calls and other losses in all */
	{ "processes", NULL, 0, OUT_PRINT, AT(processes) },	/* array of process: most losses first, at most 1024 */
	[STACKS] = { "incomplete_stacks", NULL, 0, OUT_UINT, AT(stacks) },	/* if any: call stacks with notes */
	{ 0 }
};

static void print_json(const struct losses *l, unsigned long long total, unsigned long long stacks)
{
	struct field fields[sizeof(all_fields) / sizeof(*all_fields)];

	memcpy(fields, all_fields, sizeof(fields));
	if (!stacks)
		fields[STACKS].key = NULL;
	out_row(fields, &(struct lost_row){ .lost = total, .processes = { processes_json, l }, .stacks = stacks });
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
	if (out_is_json() && (total || (stacks && stacks->stacks)))
		print_json(l, total, stacks ? stacks->stacks : 0);
	losses_free(l);
	out_flush();
}

/* The probes do not wake the reader for each record: that would double their cost. */
enum { POLL_MS = 10 };

static const unsigned long long NS_PER_MS = 1000000;

/* Without events for this long, nothing is expected. */
static const unsigned long long CALM_NS = 500 * 1000000ull;

/* How long records are handled after a signal, and how many in any case. */
static const unsigned long long LAST_NS = 700 * 1000000ull;
enum { LAST_FEW = 4096 };

/* During a wait for something else: keeps the kernel's buffers from overflowing. */
static bool on_idle(void *ctx)
{
	struct event_loop *e = ctx;

	progress_tick(&e->session->progress);
	if (e->stopped)
		return true;
	if (e->session->probes.watch)
		watch_collect(e->session->probes.watch);
	if (!out_is_held_up())
		record_queue_fill(e->queue, RECORD_QUEUE_MAX);
	return !signal_caught();
}

void event_loop_open(struct event_loop *e, struct session *t)
{
	e->session = t;
	t->helpers.helper.idle = on_idle;
	t->helpers.helper.ctx = e;
	e->queue = &t->records;
	e->queue->handle = e->record;
	e->queue->ctx = e->ctx;
	e->queue->syms = t->syms;
	e->queue->processes = &t->processes;
	if (t->inject)
		inject_open_queue(t->inject, e->queue, e->ring);
	else
		record_queue_open(e->queue, e->ring);
	signals_catch();
}

/* After a signal, a little time is left for all that follows. */
static void note_stop(struct event_loop *e)
{
	if (!signal_caught() || e->stopped)
		return;
	e->stopped = clock_ns();
	e->session->progress.hidden = true;	/* it ends before there is much to report */
	helper_pool_end(&e->session->helpers, LAST_NS);
}

static bool has_time(struct event_loop *e)
{
	note_stop(e);
	return !e->stopped || clock_ns() < e->stopped + LAST_NS;
}

/* Programs may write records faster than the tool handles them: in the end, and before the last report,
 * only those are handled that were there then. */
static void handle_last(struct event_loop *e)
{
	long size = e->ring ? bpf_map__max_entries(e->ring) : 0, left = size + RECORD_QUEUE_MAX;
	const bool stopped = e->stopped;
	int n = 0;

	if (stopped)		/* all that is in the ring buffer, after the queue */
		record_queue_fill(e->queue, e->queue->tail + size);
	if (stopped && record_queue_bytes(e->queue) > RECORD_QUEUE_FEW)
		record_queue_favor_few(e->queue);
	while ((n++ < LAST_FEW || n % RECORD_QUEUE_CLOCK || has_time(e)) && record_queue_handle(e->queue, &left))
		;
	if (!e->stopped)
		return;
	record_queue_fill(e->queue, stopped ? RECORD_QUEUE_MAX : e->queue->tail + size);
	e->lost_then[LOST_LATE] = record_queue_drop(e->queue);
}

/* Reports after each interval.  Returns true if that was the last one. */
static bool report_at(struct event_loop *e, unsigned long long *next, long *reports)
{
	if (!e->interval_ns || clock_ns() < *next || out_is_held_up())
		return false;
	if (++*reports == e->count && e->session->gpuprobe)	/* there is more to read: the tool's end is the last */
		return true;
	if (*reports == e->count)
		handle_last(e);
	e->report(e->ctx);
	e->counted_out = *reports == e->count;
	*next += e->interval_ns;
	if (*next < clock_ns())	/* the loop was blocked: skip the missed reports */
		*next = clock_ns() + e->interval_ns;
	return e->counted_out;
}

/* How long to wait for events.  The command's end is none.  Records that do not wake the reader are few:
 * see records_wakeup(). */
static long poll_ms(const struct event_loop *e, bool last)
{
	if (last || record_queue_bytes(e->queue))
		return 0;
	if (e->session->inject && inject_is_busy(e->session->inject))
		return POLL_MS;
	if (!e->calm_ms || e->session->command || clock_ns() - e->happened < CALM_NS)
		return POLL_MS;
	return e->calm_ms;
}

/* Waits for events, and handles them.  Records not read in time are lost, and counted. */
static void handle_events(struct event_loop *e, bool last)
{
	bool held = !last && out_is_held_up();
	struct inject *in = e->session->inject;
	int records = in ? inject_fd(in) : held ? -1 : record_queue_fd(e->queue);
	int got = watch_poll(e->session->probes.watch, records, e->calm_ms ? e->wake : -1, poll_ms(e, last));

	if (got < 0)
		die(got, "cannot read records");
	if (in)
		inject_serve(in);
	if (got || (in && record_queue_bytes(e->queue)))	/* programs wake nobody */
		e->happened = clock_ns();
	if (last)
		handle_last(e);
	else
		record_queue_handle_some(e->queue);
}

int event_loop_run(struct event_loop *e)
{
	struct session *t = e->session;
	double end = t->duration_ns ? clock_ns() + (double)t->duration_ns : 0;
	unsigned long long next = clock_ns() + e->interval_ns;
	unsigned long long late;
	long reports = 0;
	bool last = false;

	while (!last) {
		progress_begin(&t->progress);
		t->progress.hidden = e->stopped || t->live;
		last = signal_caught() || session_ended(t) || (end && clock_ns() >= end);
		note_stop(e);
		if (!t->gpuprobe) {
			handle_events(e, last);
			session_tick(t);
		} else if (!last) {
			gpuprobe_serve(t->gpuprobe);
		}
		if (e->tick && !e->tick(e->ctx))
			last = true;
		last = last || report_at(e, &next, &reports);
		last |= !out_flush();
	}
	note_stop(e);
	if (t->gpuprobe)
		gpuprobe_finish(t->gpuprobe, t->probes.pids[0], signal_caught());
	late = e->lost_then[LOST_LATE];
	if (e->lost) {
		memcpy(e->lost_then, e->lost, sizeof(e->lost_then));
		losses_read(&e->losses, e->lost_by);
	}
	e->lost_then[LOST_LATE] = late;
	return signal_caught();
}

long event_loop_time_left(const struct event_loop *e, long ms)
{
	unsigned long long end = e->stopped + ms * NS_PER_MS, now = clock_ns();

	if (!e->stopped)
		return LONG_MAX / NS_PER_MS;
	return now < end ? (end - now) / NS_PER_MS : 0;
}
