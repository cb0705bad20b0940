/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/escape.h"
#include "cli/out.h"
#include "cli/row.h"
#include "cudakerneltime/kernel_report.h"
#include "sym/stack.h"
#include "view/kernel_names.h"
#include "view/stack_view.h"

static struct kernel_row *row_of(struct kernel_rows *rows, const struct kernel_key *key)
{
	struct kernel_row *row;

	HASH_FIND(hh, rows->row, key, sizeof(*key), row);
	if (row)
		return row;
	if (HASH_COUNT(rows->row) >= KERNEL_ROWS_MAX)
		return NULL;
	row = xcalloc(1, sizeof(*row));
	row->key = *key;
	HASH_ADD(hh, rows->row, key, sizeof(row->key), row);
	return row;
}

static void add_blocks(struct block_sums *sums, const struct block_sums *b)
{
	if (!sums->count || b->min < sums->min)
		sums->min = b->min;
	if (b->max > sums->max)
		sums->max = b->max;
	sums->count += b->count;
	sums->total += b->total;
	sums->p50 += b->p50;
	sums->p95 += b->p95;
	sums->p99 += b->p99;
	sums->slowest += b->slowest;
}

void kernel_rows_add(struct kernel_rows *rows, const struct kernel_run *run, const struct stack *stack)
{
	struct kernel_row *row = row_of(rows, &(struct kernel_key){ run->site, stack });
	const struct gpu_launch *g = &run->gpu;

	if (!row) {
		rows->refused++;
		return;
	}
	time_steps_add(&row->runs, g->end - g->start);
	add_blocks(&row->blocks, &(struct block_sums){
		.count = g->blocks, .total = g->sum, .min = g->min, .max = g->max,
		.p50 = run->p50, .p95 = run->p95, .p99 = run->p99, .slowest = g->max,
	});
}

static int by_name(const void *a, const void *b)
{
	const struct kernel_key *x = &((const struct kernel_row *)a)->key, *y = &((const struct kernel_row *)b)->key;

	return strcmp(x->site->kernel, y->site->kernel) ?: (x->stack > y->stack) - (x->stack < y->stack);
}

static int by_total(const void *a, const void *b)
{
	unsigned long long x = ((const struct kernel_row *)a)->runs.total;
	unsigned long long y = ((const struct kernel_row *)b)->runs.total;

	return (x < y) - (x > y) ?: by_name(a, b);
}

/* Returns rows with a kernel's name and call site each, also where several modules have the kernel, the longest
 * total first; the caller frees them. */
static struct kernel_row *kernel_rows_sorted(const struct kernel_rows *rows, size_t *n)
{
	struct kernel_row *sorted = xcalloc(HASH_COUNT(rows->row) + 1, sizeof(*sorted)), *row, *next;
	size_t all = 0;

	HASH_ITER(hh, rows->row, row, next)
		sorted[all++] = *row;
	qsort(sorted, all, sizeof(*sorted), by_name);
	*n = 0;
	for (size_t i = 0; i < all; i++) {
		if (*n && !by_name(&sorted[*n - 1], &sorted[i])) {
			time_steps_join(&sorted[*n - 1].runs, &sorted[i].runs);
			add_blocks(&sorted[*n - 1].blocks, &sorted[i].blocks);
		} else {
			sorted[(*n)++] = sorted[i];
		}
	}
	qsort(sorted, *n, sizeof(*sorted), by_total);
	return sorted;
}

/* The ratio of a run's slowest block to its median, over all runs: 1 if all blocks are alike. */
static double kernel_row_tail(const struct kernel_row *row)
{
	return row->blocks.p50 ? row->blocks.slowest / row->blocks.p50 : 1;
}

void kernel_rows_clear(struct kernel_rows *rows)
{
	HASH_FREE(rows->row);
}

enum { TEXT_ROWS = 20 };

/* A row as JSON has it. */
struct kernel_line {
	unsigned long long time;
	const char *kernel;
	struct hist_totals runs;
	unsigned long long blocks, block_total, block_min, block_p50, block_p95, block_p99, block_max;
	double tail;
	unsigned long long rows[HIST_ROWS];
	const unsigned long long *hist;
	const struct stack *stack;
};

OUT_WORD(row_type, "kernel");

#define AT(f) offsetof(struct kernel_line, f)
enum { STACK = 19 };
static const struct field all_fields[] = {
	{ "type", NULL, 0, &row_type, 0 },	/* launches of a kernel on the GPU */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "kernel", NULL, 0, OUT_STR, AT(kernel) },	/* name */
	{ "short", NULL, 0, OUT_SHORT, AT(kernel) },	/* short name of the kernel, for reading */
	{ "launches", NULL, 0, OUT_UINT, AT(runs.count) },	/* that ended */
	{ "total_ns", NULL, 0, OUT_UINT, AT(runs.total) },	/* ns: of launches */
	{ "min_ns", NULL, 0, OUT_UINT, AT(runs.spread.min) },	/* ns: shortest */
	{ "p50_ns", NULL, 0, OUT_UINT, AT(runs.spread.p50) },	/* ns: median */
	{ "p95_ns", NULL, 0, OUT_UINT, AT(runs.spread.p95) },	/* ns: 95th percentile */
	{ "p99_ns", NULL, 0, OUT_UINT, AT(runs.spread.p99) },	/* ns: 99th percentile */
	{ "max_ns", NULL, 0, OUT_UINT, AT(runs.spread.max) },	/* ns: longest */
	{ "blocks", NULL, 0, OUT_UINT, AT(blocks) },	/* of these launches */
	{ "block_total_ns", NULL, 0, OUT_UINT, AT(block_total) },	/* ns: of blocks */
	{ "block_min_ns", NULL, 0, OUT_UINT, AT(block_min) },	/* ns: shortest */
	{ "block_p50_ns", NULL, 0, OUT_UINT, AT(block_p50) },	/* ns: mean of the medians of launches */
	{ "block_p95_ns", NULL, 0, OUT_UINT, AT(block_p95) },	/* ns: mean of their 95th percentiles */
	{ "block_p99_ns", NULL, 0, OUT_UINT, AT(block_p99) },	/* ns: mean of their 99th percentiles */
	{ "block_max_ns", NULL, 0, OUT_UINT, AT(block_max) },	/* ns: longest */
	{ "tail", NULL, 0, OUT_REAL, AT(tail) },	/* slowest divided by median block, over all launches */
	[STACK] = { "stack", NULL, 0, OUT_STACK, AT(stack) },
	{ "ns", NULL, 0, OUT_ROWS, AT(hist) },	/* ns: launches by time */
	{ 0 }
};

static const char *json_name(struct kernel_report *r, const struct site *site)
{
	return r->full ? demangle(&r->demangler, site->kernel) : demangle_brief(&r->demangler, site->kernel);
}

const char *kernel_report_name(struct kernel_report *r, const struct site *site, bool text)
{
	if (r->full || (r->names < 0 ? !text : r->names == KERNEL_BRIEF))
		return json_name(r, site);
	short_name(r->short_name, json_name(r, site));
	return r->short_name;
}

static struct kernel_line line_of(struct kernel_report *r, const struct kernel_row *row)
{
	const struct block_sums *b = &row->blocks;
	double n = row->runs.count;

	return (struct kernel_line){
		.time = clock_ns(), .kernel = json_name(r, row->key.site),
		.runs = time_steps_totals(&row->runs),
		.blocks = b->count, .block_total = b->total, .block_min = b->min, .block_max = b->max,
		.block_p50 = b->p50 / n, .block_p95 = b->p95 / n, .block_p99 = b->p99 / n,
		.tail = kernel_row_tail(row), .stack = row->key.stack,
	};
}

static void print_json(struct kernel_report *r, const struct kernel_row *row)
{
	struct field fields[sizeof(all_fields) / sizeof(*all_fields)];
	struct kernel_line line = line_of(r, row);

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		fields[i] = all_fields[i];
	fields[STACK].key = r->stacks ? "stack" : NULL;
	time_steps_rows(&row->runs, line.rows);
	line.hist = line.rows;
	out_row(fields, &line);
}

static void print_times(const struct hist_totals *t)
{
	const struct hist_spread *s = &t->spread;

	printf("%9llu %9s", t->count, out_ns(t->total));
	printf(" %9s", out_ns(s->min));
	printf(" %9s", out_percentile(s->p50, s->about_p50, OUT_UNIT_NS));
	printf(" %9s", out_percentile(s->p95, s->about_p95, OUT_UNIT_NS));
	printf(" %9s", out_percentile(s->p99, s->about_p99, OUT_UNIT_NS));
	printf(" %9s", out_ns(s->max));
}

static void print_name(const char *name)
{
	putchar(' ');
	escape_text(stdout, name);
	putchar('\n');
}

static void runs_text(struct kernel_report *r, const struct kernel_row *row)
{
	struct kernel_line l = line_of(r, row);

	print_times(&l.runs);
	print_name(kernel_report_name(r, row->key.site, true));
	if (r->stacks)
		stack_text(l.stack);
}

static void blocks_text(struct kernel_report *r, const struct kernel_row *row)
{
	struct kernel_line l = line_of(r, row);

	const bool about = l.block_min != l.block_max;

	print_times(&(struct hist_totals){ l.blocks, l.block_total, {
		l.block_min, l.block_p50, l.block_p95, l.block_p99, l.block_max, about, about, about } });
	printf(" %6.1f", l.tail);
	print_name(kernel_report_name(r, row->key.site, true));
}

static void print_text(struct kernel_report *r, const struct kernel_row *rows, size_t n, size_t all)
{
	static const char times[] = "     TOTAL       MIN       P50       P95       P99       MAX";

	printf("%s[%s]%s\n", r->reported ? "\n" : "", out_clock(), n ? "" : " no launches measured");
	r->reported = true;
	if (!n)
		return;
	printf(" LAUNCHES%s KERNEL\n", times);
	for (size_t i = 0; i < n; i++)
		runs_text(r, &rows[i]);
	printf("\n   BLOCKS%s   TAIL KERNEL\n", times);
	for (size_t i = 0; i < n; i++)
		blocks_text(r, &rows[i]);
	if (all > n)
		printf("... and %zu more\n", all - n);
}

void kernel_report(struct kernel_report *r, const struct kernel_rows *rows, bool always)
{
	size_t all, n, max = r->rows ? (size_t)r->rows : out_is_json() ? SIZE_MAX : TEXT_ROWS;
	struct kernel_row *sorted = kernel_rows_sorted(rows, &all);

	n = all < max ? all : max;
	if (!out_is_json() && (n || always))
		print_text(r, sorted, n, all);
	for (size_t i = 0; out_is_json() && i < n; i++)
		print_json(r, &sorted[i]);
	out_line_end();
	free(sorted);
}
