/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "probe/bpf_mmap.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/escape.h"
#include "model/aggregate.h"
#include "cli/out.h"
#include "abi/aggregate.h"
#include "cudasynclatency/wait_threads.h"

enum { SHOWN = 10 };

struct thread_row {
	unsigned long long time, count, total;
	int pid, tid;
	char *comm;
	double share;
};

#define AT(f) offsetof(struct thread_row, f)
static const struct field fields[] = {
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "pid", NULL, 0, OUT_INT, AT(pid) },
	{ "tid", NULL, 0, OUT_INT, AT(tid) },
	{ "comm", NULL, 0, OUT_STR, AT(comm) },
	{ "waits", NULL, 0, OUT_UINT, AT(count) },
	{ "waited_ns", NULL, 0, OUT_UINT, AT(total) },
	{ "share", NULL, 0, OUT_REAL, AT(share) },
	{ 0 }
};

static struct thread_row *rows;
static size_t nrows;
static struct bpf_map *quick, *rest;
static unsigned long long *used, since;

void wait_threads_init(struct bpf_map *quick_map, struct bpf_map *rest_map,
		       unsigned long long *quick_used)
{
	quick = quick_map;
	rest = rest_map;
	used = quick_used;
	since = clock_ns();
}

static void take_thread(const void *key, const void *value)
{
	const struct wait_thread_key *k = key;
	const struct wait_thread *t = value;

	rows = xrealloc(rows, nrows + 1, sizeof(*rows));
	rows[nrows++] = (struct thread_row){
		.count = t->count, .total = t->ns, .pid = k->pid, .tid = k->tid,
		.comm = xstrdup(t->comm),
	};
}

/* Those in the array; the others are in the map. */
void wait_threads_collect(unsigned int epoch)
{
	static struct wait_slot *all;
	struct wait_slot *w;

	if (!all)
		all = bpf_mmap_elements(quick);
	w = all + (epoch & 1) * WAIT_SLOTS;
	for (int i = 0; i < WAIT_SLOTS && slot_is_taken(&w[i].slot); i++) {
		if (w[i].thread.count)
			take_thread(&w[i].key, &w[i].thread);
		memset(&w[i].key, 0, sizeof(w[i].key));
		memset(&w[i].thread, 0, sizeof(w[i].thread));
		slot_give_back(&w[i].slot);
	}
	used[epoch & 1] = 0;
	aggregate_drain(rest, epoch, take_thread);
}

static int longest_first(const void *a, const void *b)
{
	const struct thread_row *p = a, *q = b;

	return p->total == q->total ? p->tid - q->tid : p->total < q->total ? 1 : -1;
}

void wait_threads_report(unsigned long long now)
{
	double time = now - since;

	if (nrows)
		qsort(rows, nrows, sizeof(*rows), longest_first);
	for (size_t i = 0; i < nrows; i++) {
		struct thread_row *r = &rows[i];

		r->time = now;
		r->share = r->total / time;
		if (out_is_json()) {
			out_row(fields, r);
		} else if (i < SHOWN) {
			printf("thread %d of pid %d (", r->tid, r->pid);
			escape_text(stdout, r->comm);
			printf(") waited %s in %llu call%s, %.1f %% of %s\n", out_ns(r->total), r->count,
			       r->count == 1 ? "" : "s", 100 * r->share, out_ns(time));
		}
		free(r->comm);
	}
	if (nrows > SHOWN && !out_is_json())
		printf("... and %zu more threads\n", nrows - SHOWN);
	if (!out_is_json())
		putchar('\n');
	nrows = 0;
	since = now;
}
