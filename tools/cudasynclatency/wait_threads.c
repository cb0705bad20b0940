/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/libbpf.h>
#include "abi/aggregate_group.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/util.h"
#include "bpf/bpf_mmap.h"
#include "cli/out.h"
#include "cli/row.h"
#include "cudasynclatency/wait_threads.h"
#include "model/aggregate.h"
#include "proc/process_table.h"
#include "view/columns.h"

struct wait_thread_row {
	unsigned long long time;	/* of the report: CLOCK_MONOTONIC, ns */
	unsigned long long count, total;	/* waits; ns */
	int pid, tid;
	char *comm;
	const char *container;		/* NULL: none */
	double share;			/* of the time since the previous report: 1 is all of it */
};

enum { SHOWN = 10 };	/* threads, in text */

OUT_WORD(row_type, "thread");

#define AT(f) offsetof(struct wait_thread_row, f)
static const struct field fields[] = {
	{ "type", NULL, 0, &row_type, 0 },	/* waits of a thread */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "pid", NULL, 0, OUT_INT, AT(pid) },
	{ "tid", NULL, 0, OUT_INT, AT(tid) },
	{ "comm", NULL, 0, OUT_STR, AT(comm) },
	{ "container", NULL, 0, OUT_STR, AT(container) },
	{ "waits", NULL, 0, OUT_UINT, AT(count) },	/* calls */
	{ "waited_ns", NULL, 0, OUT_UINT, AT(total) },	/* ns: in these calls */
	{ "share", NULL, 0, OUT_REAL, AT(share) },	/* waited_ns divided by the time since the last report */
	{ 0 }
};

void wait_threads_init(struct wait_threads *threads, struct bpf_map *slots, struct bpf_map *rest,
		       unsigned long long *used, struct shares *shares)
{
	*threads = (struct wait_threads){
		.slots = slots, .rest = rest, .used = used, .shares = shares,
		.since = clock_ns(),
	};
}

static void take_thread(void *ctx, const void *key, const void *value)
{
	struct wait_threads *threads = ctx;
	const struct wait_thread_key *k = key;
	const struct wait_thread *t = value;

	threads->rows = xrealloc(threads->rows, threads->n + 1, sizeof(*threads->rows));
	threads->rows[threads->n++] = (struct wait_thread_row){
		.count = t->count, .total = t->ns, .pid = k->pid, .tid = k->tid,
		.comm = xprintf("%.*s", (int)sizeof(t->comm), t->comm),
	};
}

void wait_threads_collect(struct wait_threads *threads, unsigned int epoch)
{
	struct wait_slot *slots;

	if (!threads->elements)
		threads->elements = bpf_mmap_elements(threads->slots);
	if (!threads->elements)
		die(errno, "cannot map %s", bpf_map__name(threads->slots));
	slots = threads->elements + (epoch & 1) * WAIT_SLOTS;
	for (int i = 0; i < WAIT_SLOTS && slot_is_taken(&slots[i].slot); i++) {
		if (slots[i].thread.count)
			take_thread(threads, &slots[i].key, &slots[i].thread);
		memset(&slots[i].key, 0, sizeof(slots[i].key));
		memset(&slots[i].thread, 0, sizeof(slots[i].thread));
		slot_give_back(&slots[i].slot);
	}
	threads->used[epoch & 1] = 0;
	aggregate_drain(threads->rest, epoch, take_thread, threads);
	shares_clear(&threads->shares[epoch & 1]);
}

static int longest_first(const void *a, const void *b)
{
	const struct wait_thread_row *p = a, *q = b;

	return p->total == q->total ? p->tid - q->tid : p->total < q->total ? 1 : -1;
}

/* Ends the interval, of which it returns the length: sets times and shares of the rows and sorts
 * them. */
static unsigned long long finish(struct wait_threads *threads, unsigned long long now)
{
	unsigned long long interval = now - threads->since;

	if (threads->n)
		qsort(threads->rows, threads->n, sizeof(*threads->rows), longest_first);
	for (size_t i = 0; i < threads->n; i++) {
		threads->rows[i].time = now;
		threads->rows[i].share = threads->rows[i].total / (double)interval;
	}
	threads->since = now;
	return interval;
}

void wait_threads_clear(struct wait_threads *threads)
{
	while (threads->n)
		free(threads->rows[--threads->n].comm);
	free(threads->rows);
	threads->rows = NULL;
}

static void print_text(const struct wait_thread_row *r, unsigned long long interval)
{
	printf("thread %d of ", r->tid);
	process_text(r->pid, r->comm, r->container);
	printf(" waited %s in %llu call%s, %.1f %% of %s\n", out_ns(r->total), r->count, plural(r->count),
	       100 * r->share, out_ns(interval));
}

void wait_threads_print(struct wait_threads *threads, struct process_table *processes, unsigned long long now)
{
	unsigned long long interval = finish(threads, now);

	for (size_t i = 0; i < threads->n; i++) {
		threads->rows[i].container = process_container(processes, threads->rows[i].pid);
		if (out_is_json())
			out_row(fields, &threads->rows[i]);
		else if (i < SHOWN)
			print_text(&threads->rows[i], interval);
	}
	if (threads->n > SHOWN && !out_is_json())
		printf("... and %zu more thread%s\n", threads->n - SHOWN, plural(threads->n - SHOWN));
	if (!out_is_json())
		putchar('\n');
	wait_threads_clear(threads);
}
