/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "base/clock.h"
#include "base/escape.h"
#include "cli/out.h"
#include "cli/row.h"
#include "cudakerneltime/kernel_report.h"
#include "sym/stack.h"
#include "view/stack_view.h"

enum { TEXT_ROWS = 20 };

/* A row as JSON has it. */
struct kernel_line {
	unsigned long long time;
	const char *kernel;
	struct hist_totals launches;
	unsigned long long blocks, block_total, block_min, block_p50, block_p95, block_p99, block_max;
	double tail;
	unsigned long long slots[HIST_SLOTS];
	const unsigned long long *hist;
	const struct stack *stack;
};

OUT_WORD(row_type, "kernel");

#define AT(f) offsetof(struct kernel_line, f)
enum { STACK = 18 };
static const struct field all_fields[] = {
	{ "type", NULL, 0, &row_type, 0 },	/* launches of a kernel on the GPU */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "kernel", NULL, 0, OUT_STR, AT(kernel) },	/* name */
	{ "launches", NULL, 0, OUT_UINT, AT(launches.count) },	/* that ended */
	{ "total_ns", NULL, 0, OUT_UINT, AT(launches.total) },	/* ns: of launches */
	{ "min_ns", NULL, 0, OUT_UINT, AT(launches.spread.min) },	/* ns: shortest */
	{ "p50_ns", NULL, 0, OUT_UINT, AT(launches.spread.p50) },	/* ns: median */
	{ "p95_ns", NULL, 0, OUT_UINT, AT(launches.spread.p95) },	/* ns: 95th percentile */
	{ "p99_ns", NULL, 0, OUT_UINT, AT(launches.spread.p99) },	/* ns: 99th percentile */
	{ "max_ns", NULL, 0, OUT_UINT, AT(launches.spread.max) },	/* ns: longest */
	{ "blocks", NULL, 0, OUT_UINT, AT(blocks) },	/* of these launches */
	{ "block_total_ns", NULL, 0, OUT_UINT, AT(block_total) },	/* ns: of blocks */
	{ "block_min_ns", NULL, 0, OUT_UINT, AT(block_min) },	/* ns: shortest */
	{ "block_p50_ns", NULL, 0, OUT_UINT, AT(block_p50) },	/* ns: mean median of launches */
	{ "block_p95_ns", NULL, 0, OUT_UINT, AT(block_p95) },	/* ns: likewise */
	{ "block_p99_ns", NULL, 0, OUT_UINT, AT(block_p99) },	/* ns: likewise */
	{ "block_max_ns", NULL, 0, OUT_UINT, AT(block_max) },	/* ns: longest */
	{ "tail", NULL, 0, OUT_REAL, AT(tail) },	/* slowest block by median block */
	[STACK] = { "stack", NULL, 0, OUT_STACK, AT(stack) },
	{ "ns", NULL, 0, OUT_HIST, AT(hist) },	/* ns: launches by time */
	{ 0 }
};

const char *kernel_report_name(struct kernel_report *r, const struct site *site)
{
	return r->full ? demangle(&r->names, site->kernel) : demangle_brief(&r->names, site->kernel);
}

static struct kernel_line line_of(struct kernel_report *r, const struct kernel_row *row)
{
	const struct block_sums *b = &row->blocks;
	double n = row->launches.count;

	return (struct kernel_line){
		.time = clock_ns(), .kernel = kernel_report_name(r, row->key.site),
		.launches = time_steps_totals(&row->launches),
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
	time_steps_log2(&row->launches, line.slots);
	line.hist = line.slots;
	out_row(fields, &line);
}

static void print_times(unsigned long long count, const unsigned long long *ns)
{
	printf("%9llu", count);
	for (int i = 0; i < 6; i++)
		printf(" %9s", out_ns(ns[i]));
}

static void print_name(const char *name)
{
	putchar(' ');
	escape_text(stdout, name);
	putchar('\n');
}

static void launches_text(struct kernel_report *r, const struct kernel_row *row)
{
	struct kernel_line l = line_of(r, row);
	const struct hist_spread *s = &l.launches.spread;

	print_times(l.launches.count, (unsigned long long[]){
		l.launches.total, s->min, s->p50, s->p95, s->p99, s->max });
	print_name(l.kernel);
	if (r->stacks)
		stack_text(l.stack);
}

static void blocks_text(struct kernel_report *r, const struct kernel_row *row)
{
	struct kernel_line l = line_of(r, row);

	print_times(l.blocks, (unsigned long long[]){
		l.block_total, l.block_min, l.block_p50, l.block_p95, l.block_p99, l.block_max });
	printf(" %6.1f", l.tail);
	print_name(l.kernel);
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
		launches_text(r, &rows[i]);
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
