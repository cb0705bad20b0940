/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/die.h"
#include "cli/out.h"
#include "cli/row.h"
#include "cudalaunchtop/gap_view.h"
#include "cudalaunchtop/gaps.h"
#include "model/stack_below.h"
#include "proc/process_table.h"
#include "sym/stack.h"
#include "view/columns.h"
#include "view/stack_view.h"

enum { TEXT_ROWS = 20 };

/* A device; its text is a sentence. */
struct gaps_row {
	unsigned long long time;
	int pid;
	const char *comm, *container;
	unsigned int device;
	double interval;
	unsigned long long total, busy, host, queued, unknown, n;
	const char *below;
	double below_share;
};

/* Time of threads while it waited. */
struct gap_row {
	unsigned long long time, total, n, mean, p99, most;
	int pid;
	const char *comm, *container, *state;
	unsigned int device;
	double share;
	bool about;			/* p99 is an estimate */
	const struct stack *stack;
};

OUT_WORD(gaps_type, "gaps");
OUT_WORD(gap_type, "gap");

#define AT(f) offsetof(struct gaps_row, f)
static const struct field gaps_fields[] = {	/* for JSON, with --gaps */
	{ "type", NULL, 0, &gaps_type, 0 },	/* with --gaps: how a device spent its time, from the first run of a process to the last one */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "interval_s", NULL, 0, OUT_REAL, AT(interval) },	/* s: length of the interval */
	{ "pid", NULL, 0, OUT_INT, AT(pid) },
	{ "comm", NULL, 0, OUT_STR, AT(comm) },	/* name of its main thread */
	{ "container", NULL, 0, OUT_STR, AT(container) },
	{ "device", NULL, 0, OUT_DEVICE, AT(device) },
	{ "total_ns", NULL, 0, OUT_UINT, AT(total) },	/* ns: the sum of the next four */
	{ "busy_ns", NULL, 0, OUT_UINT, AT(busy) },	/* ns: something of the process ran */
	{ "host_ns", NULL, 0, OUT_UINT, AT(host) },	/* ns: nothing ran, and nothing was queued */
	{ "queued_ns", NULL, 0, OUT_UINT, AT(queued) },	/* ns: nothing ran, but what ran next was queued */
	{ "unknown_ns", NULL, 0, OUT_UINT, AT(unknown) },	/* ns: nothing ran, and the call of what ran next is not known */
	{ "gaps", NULL, 0, OUT_UINT, AT(n) },	/* in which the device waited for the host */
	{ "below", NULL, 0, OUT_STR, AT(below) },	/* innermost line that is not of a library and has most of the waiting below it */
	{ "below_share", NULL, 0, OUT_REAL, AT(below_share) },	/* of host_ns */
	{ 0 }
};

#undef AT
#define AT(f) offsetof(struct gap_row, f)
static const struct field gap_fields[] = {	/* for JSON, with --gaps; print_group() prints text */
	{ "type", NULL, 0, &gap_type, 0 },	/* with --gaps: what a thread did while a device waited for it */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "pid", NULL, 0, OUT_INT, AT(pid) },
	{ "comm", NULL, 0, OUT_STR, AT(comm) },	/* name of its main thread */
	{ "container", NULL, 0, OUT_STR, AT(container) },
	{ "device", NULL, 0, OUT_DEVICE, AT(device) },
	{ "state", NULL, 0, OUT_STR, AT(state) },	/* off CPU, preempted, running or unknown */
	{ "gaps", NULL, 0, OUT_UINT, AT(n) },	/* in which the thread did this */
	{ "total_ns", NULL, 0, OUT_UINT, AT(total) },	/* ns: in all of them */
	{ "share", NULL, 0, OUT_REAL, AT(share) },	/* of the time in which the device waited for the host */
	{ "mean_ns", NULL, 0, OUT_UINT, AT(mean) },	/* ns: in one of them */
	{ "p99_ns", NULL, 0, OUT_UINT, AT(p99) },	/* ns: 99th percentile */
	{ "max_ns", NULL, 0, OUT_UINT, AT(most) },	/* ns: longest */
	{ "stack", NULL, 0, OUT_STACK, AT(stack) },	/* of the thread meanwhile; of the call that ended the gap if that is not known */
	{ 0 }
};

static int longest_first(const void *a, const void *b)
{
	const struct gap_group *p = *(const struct gap_group *const *)a, *q = *(const struct gap_group *const *)b;

	return (p->sum.ns < q->sum.ns) - (p->sum.ns > q->sum.ns);
}

/* The caller frees the array. */
static const struct gap_group **sorted(const struct gap_device *d, size_t *n)
{
	const struct gap_group **list = xcalloc(HASH_COUNT(d->groups) + 1, sizeof(*list));

	*n = 0;
	for (const struct gap_group *p = d->groups; p; p = p->hh.next)
		list[(*n)++] = p;
	qsort(list, *n, sizeof(*list), longest_first);
	return list;
}

static struct gaps_row row_of(const struct gap_view *v, const struct gap_device *d)
{
	return (struct gaps_row){
		.time = v->now, .pid = d->key.pid, .comm = d->comm, .container = process_container(v->processes, d->key.pid),
		.device = d->key.device, .interval = (v->now - v->since) / 1e9,
		.total = d->busy + d->host + d->queued + d->unknown,
		.busy = d->busy, .host = d->host, .queued = d->queued, .unknown = d->unknown, .n = d->n,
	};
}

static void text_head(void)
{
	printf("%10s %6s %8s %10s %10s %10s STATE\n", "TIME(ms)", "%GAP", "GAPS", "MEAN(us)", "P99(us)", "MAX(us)");
}

static void text_row(const struct gap_row *r)
{
	char p99[24];

	snprintf(p99, sizeof(p99), "%s%.1f", r->about ? "~" : "", r->p99 / 1e3);
	printf("%10.1f %6.1f %8llu %10.1f %10s %10.1f %s\n", r->total / 1e6, 100 * r->share, r->n, r->mean / 1e3, p99, r->most / 1e3,
	       r->state);
	stack_text(r->stack);
}

static void print_group(const struct gaps_row *of, const struct gap_group *p)
{
	const struct hist_spread spread = hist_spread(&p->sum.hist, 0, p->sum.most);
	const struct gap_row row = {
		.time = of->time, .pid = of->pid, .comm = of->comm, .container = of->container, .device = of->device,
		.state = host_state_names[p->state], .n = p->sum.n, .total = p->sum.ns, .share = (double)p->sum.ns / of->host,
		.mean = p->sum.ns / p->sum.n, .p99 = spread.p99, .about = spread.about_p99, .most = p->sum.most, .stack = p->stack,
	};

	if (out_is_json())
		out_row(gap_fields, &row);
	else
		text_row(&row);
}

static double percent(unsigned long long part, const struct gaps_row *r)
{
	return 100.0 * part / r->total;
}

static void print_device(struct gap_view *v, const struct gaps_row *r)
{
	char number[16];

	if (v->reported)
		putchar('\n');
	process_text(r->pid, r->comm, r->container);
	printf(", device %s, %s: %.1f %% busy, %.1f %% waiting for the host (%llu gap%s), %.1f %% queued, %.1f %% unknown\n",
	       device_text(r->device, number), out_ns(r->total), percent(r->busy, r), percent(r->host, r), r->n, plural(r->n),
	       percent(r->queued, r), percent(r->unknown, r));
	if (r->below)
		printf("%.1f %% of the waiting below %s\n", 100 * r->below_share, r->below);
	if (r->n)
		text_head();
}

static struct stack_below below(const struct gap_group **list, size_t n)
{
	struct stack_part *parts = xcalloc(n + 1, sizeof(*parts));
	struct stack_below found;

	for (size_t i = 0; i < n; i++)
		parts[i] = (struct stack_part){ list[i]->stack, list[i]->sum.ns };
	found = stack_below(parts, n);
	free(parts);
	return found;
}

static void print_rows(struct gap_view *v, const struct gap_device *d, const struct gap_group **list, size_t n)
{
	const struct stack_below of = below(list, n);
	struct gaps_row row = row_of(v, d);
	const size_t most = v->rows ? (size_t)v->rows : out_is_json() ? n : TEXT_ROWS, shown = n < most ? n : most;

	row.below = of.frame;
	row.below_share = of.frame ? of.share : NAN;
	if (out_is_json())
		out_row(gaps_fields, &row);
	else
		print_device(v, &row);
	v->reported = true;
	for (size_t i = 0; i < shown; i++)
		print_group(&row, list[i]);
	if (n > shown && !out_is_json())
		printf("... and %zu more\n", n - shown);
	free(of.frame);
}

static void print_folded(const struct gap_device *d, const struct gap_group **list, size_t n)
{
	char leaf[16];

	for (size_t i = 0; i < n; i++) {
		snprintf(leaf, sizeof(leaf), "[%s]", host_state_names[list[i]->state]);
		folded_line(d->comm, list[i]->stack, leaf, list[i]->sum.ns);
	}
}

static void on_device(void *ctx, const struct gap_device *d)
{
	const struct gap_group **list;
	struct gap_view *v = ctx;
	size_t n;

	list = sorted(d, &n);
	if (v->folded)
		print_folded(d, list, n);
	else
		print_rows(v, d, list, n);
	free(list);
}

void gap_view(struct gap_view *v)
{
	const bool before = v->reported;

	gaps_each(v->gaps, on_device, v);
	if (v->reported == before && !before && !v->folded && !out_is_json())
		puts("nothing ran on a GPU");
}
