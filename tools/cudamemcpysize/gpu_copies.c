/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include "abi/device.h"
#include "api/cuda_fn.h"
#include "base/util.h"
#include "cli/hist.h"
#include "cli/out.h"
#include "cli/row.h"
#include "cudamemcpysize/gpu_copies.h"
#include "proc/process_table.h"
#include "view/columns.h"

struct gpu_row {
	unsigned long long time, rate;	/* rate: bytes/s */
	struct gpu_sum sum;
	struct hist_spread spread;
	const struct hist *hist;
	int pid;			/* 0: all processes; comm likewise */
	unsigned int device, order;	/* order: of the direction */
	const char *comm, *container, *direction;
};

OUT_WORD(row_type, "gpu_copies");

#define AT(f) offsetof(struct gpu_row, f)
static const struct field all_fields[] = {	/* for JSON; print_text() prints text */
	{ "type", NULL, 0, &row_type, 0 },	/* copies of a direction on the GPU, with --gpu-time */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "pid", NULL, 0, OUT_INT, AT(pid) },
	{ "comm", NULL, 0, OUT_STR, AT(comm) },	/* of its first thread */
	{ "container", NULL, 0, OUT_STR, AT(container) },
	{ "direction", NULL, 0, OUT_STR, AT(direction) },	/* HtoD, DtoH, DtoD, HtoH, PtoP, default if CUPTI does not know, or memset */
	{ "device", NULL, 0, OUT_DEVICE, AT(device) },	/* where the GPU counts it; of PtoP: the source */
	{ "count", NULL, 0, OUT_UINT, AT(sum.n) },	/* copies that ended in the interval */
	{ "bytes", NULL, 0, OUT_UINT, AT(sum.bytes) },	/* bytes: of them */
	{ "gpu_ns", NULL, 0, OUT_UINT, AT(sum.ns) },	/* how long they took, summed up */
	{ "bytes_per_s", NULL, 0, OUT_UINT, AT(rate) },	/* bytes/s: bytes divided by gpu_ns */
	{ "min_ns", NULL, 0, OUT_UINT, AT(spread.min) },	/* the shortest */
	{ "max_ns", NULL, 0, OUT_UINT, AT(spread.max) },	/* the longest */
	{ "p50_ns", NULL, 0, OUT_UINT, AT(spread.p50) },	/* median */
	{ "p99_ns", NULL, 0, OUT_UINT, AT(spread.p99) },	/* 99th percentile */
	{ "hist_ns", NULL, 0, OUT_HIST, AT(hist) },	/* copies by time */
	{ 0 }
};

struct gpu_rows {
	const struct gpu_copies *g;
	struct process_table *processes;
	unsigned long long time;
	struct gpu_row *all;
	size_t n, room;
};

static void add(void *ctx, const struct gpu_tally *t)
{
	struct gpu_rows *r = ctx;
	const struct gpu_copies *g = r->g;
	const bool set = t->key.kind == GPUTIME_SET;

	if (!t->last.n || !(set ? g->memset : t->key.kind == GPUTIME_COPY) || (g->devices && !device_is_in(g->devices, t->key.device)) ||
	    (g->direction && (int)t->key.direction != g->direction))
		return;
	ALLOC_GROW(r->all, r->n, r->room);
	r->all[r->n++] = (struct gpu_row){
		.time = r->time, .pid = g->pids ? t->pid : 0, .device = t->key.device,
		.order = set ? CUDA_DEFAULT + 1 : t->key.direction,
		.direction = set ? "memset" : cuda_direction_name(t->key.direction), .comm = g->pids ? t->comm : NULL,
		.container = g->pids ? process_container(r->processes, t->pid) : NULL, .sum = t->last,
	};
}

static int by_place(const void *a, const void *b)
{
	const struct gpu_row *p = a, *q = b;

	return p->pid != q->pid ? p->pid - q->pid : p->device != q->device ? (int)p->device - (int)q->device : (int)p->order - (int)q->order;
}

/* Sorts the rows, and joins those of one place. */
static void join(struct gpu_rows *r)
{
	size_t to = 0;

	if (r->n)
		qsort(r->all, r->n, sizeof(*r->all), by_place);
	for (size_t i = 1; i < r->n; i++) {
		if (by_place(&r->all[to], &r->all[i]))
			r->all[++to] = r->all[i];
		else
			gpu_sum_add(&r->all[to].sum, &r->all[i].sum);
	}
	r->n = r->n ? to + 1 : 0;
}

static void print_text(const struct gpu_row *r)
{
	char device[16];

	if (r->pid) {
		process_text(r->pid, r->comm, r->container);
		fputs(", ", stdout);
	}
	printf("%s on GPU %s: %llu of %s", r->direction, device_text(r->device, device), r->sum.n, out_amount(r->sum.bytes, OUT_UNIT_BYTES));
	printf(" in %s", out_ns(r->sum.ns));
	printf(" at %s", out_amount(r->rate, OUT_UNIT_BYTES_PER_S));
	printf("; median %s", out_percentile(r->spread.p50, r->spread.about_p50, OUT_UNIT_NS));
	printf(", P99 %s\n", out_percentile(r->spread.p99, r->spread.about_p99, OUT_UNIT_NS));
}

void gpu_copies_report(struct gpu_copies *g, struct process_table *processes, unsigned long long now)
{
	struct gpu_rows r = { .g = g, .processes = processes, .time = now };

	gpu_time_tick(&g->time);
	gpu_time_count(&g->time);
	gpu_time_each(&g->time, add, &r);
	join(&r);
	for (size_t i = 0; i < r.n; i++) {
		struct gpu_row *row = &r.all[i];

		row->rate = row->sum.ns ? row->sum.bytes * 1e9 / row->sum.ns : 0;
		row->hist = &row->sum.hist;
		row->spread = hist_spread(&row->sum.hist, row->sum.least, row->sum.most);
		if (out_is_json())
			out_row(all_fields, row);
		else
			print_text(row);
	}
	if (r.n && !out_is_json())
		putchar('\n');
	free(r.all);
}
