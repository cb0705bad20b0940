/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "base/die.h"
#include "cli/out.h"
#include "cli/row.h"
#include "cli/top_screen.h"
#include "cudalaunchtop/launch_line.h"
#include "cudalaunchtop/launch_widths.h"
#include "cudalaunchtop/launch_report.h"
#include "session/process.h"
#include "sym/stack.h"
#include "view/stack_view.h"
#include "view/stack_view.h"
#include "view/columns.h"

enum { TEXT_ROWS = 20 };

OUT_WORD(row_type, "launches");

#define AT(f) offsetof(struct launch_line, f)
enum { STREAM = 7, GRID = 14, FAILED = 18, STACK };
static const struct field all_fields[] = {	/* for JSON; launch_text() prints text */
	{ "type", NULL, 0, &row_type, 0 },
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "interval_s", NULL, 0, OUT_REAL, AT(interval) },
	{ "pid", NULL, 0, OUT_INT, AT(row.pid) },
	{ "comm", NULL, 0, OUT_STR, AT(row.comm) },
	{ "container", NULL, 0, OUT_STR, AT(contained) },
	{ "device", NULL, 0, OUT_DEVICE, AT(row.device) },
	[STREAM] = { "stream", NULL, 0, OUT_STREAM, AT(row.stream) },
	{ "kernel", NULL, 0, OUT_STR, AT(kernel) },
	{ "kind", NULL, 0, OUT_STR, AT(kind) },
	{ "complete", NULL, 0, OUT_BOOL, AT(complete) },
	{ "launches", NULL, 0, OUT_UINT, AT(row.last.launches) },
	{ "launches_per_s", NULL, 0, OUT_REAL, AT(rate) },
	{ "total", NULL, 0, OUT_UINT, AT(row.total.launches) },
	[GRID] = { "grid", NULL, 0, OUT_DIM, AT(row.grid) },
	{ "block", NULL, 0, OUT_DIM, AT(row.block) },
	{ "threads", NULL, 0, OUT_UINT, AT(threads) },
	{ "impossible", NULL, 0, OUT_UINT, AT(row.last.impossible) },
	[FAILED] = { "failed", NULL, 0, OUT_UINT, AT(row.last.failed) },
	[STACK] = { "stack", NULL, 0, OUT_STACK, AT(row.stack) },
	{ 0 }
};

/* Returns the columns of the terminal, which would wrap longer lines; INT_MAX if it is none. */
static int columns_of_output(void)
{
	struct winsize w = { 0 };

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) || !w.ws_col)
		return INT_MAX;
	return w.ws_col;
}

static void print_text(const struct launch_view *v, const struct launch_line *l,
		       const struct launch_widths *widths, int columns)
{
	int used;
	size_t size;
	char *buf;
	FILE *f = top_view_line(&buf, &size);

	launch_text(f, v, l, widths);
	fclose(f);
	printf("%.*s\n", screen_fit(buf, columns, &used), buf);
	free(buf);
}

static void report_json(const struct launch_view *v, struct launch_line *lines, size_t n)
{
	struct field fields[sizeof(all_fields) / sizeof(*all_fields)];

	memcpy(fields, all_fields, sizeof(fields));
	fields[STREAM].key = v->streams ? "stream" : NULL;
	fields[FAILED].key = v->failed ? "failed" : NULL;
	fields[STACK].key = v->stacks ? "stack" : NULL;
	for (size_t i = 0; i < n; i++) {
		lines[i].complete = preexisting_complete(v->preexisting, lines[i].row.pid);
		lines[i].contained = *lines[i].container ? lines[i].container : NULL;
		out_row(fields, &lines[i]);
	}
}

static void report_text(struct launch_view *v, const struct launch_line *lines, size_t n, size_t all)
{
	int columns = columns_of_output();
	struct launch_widths widths = launch_widths(v, lines, n, columns);

	if (v->reported)
		putchar('\n');
	v->reported = true;
	launch_head(stdout, v, &widths);
	putchar('\n');
	for (size_t i = 0; i < n; i++) {
		print_text(v, &lines[i], &widths, columns);
		if (v->stacks)
			stack_text(lines[i].row.stack);
	}
	launch_widths_free(&widths);
	if (all > n)
		printf("... and %zu more\n", all - n);
}

static void report_folded(const struct launch_line *lines, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct launch_row *r = &lines[i].row;
		char *leaf = xprintf("%s%s", r->kind == LAUNCH_GRAPH ? "[graph] " : "", lines[i].kernel);

		folded_line(r->comm, r->stack, leaf, r->last.launches);
		free(leaf);
	}
}

void launch_report(struct launch_view *v, bool whole)
{
	struct launch_line *lines;
	size_t n, max;

	launch_view_measure(v, whole);
	lines = launch_lines(v, whole, false, &n);
	max = v->folded ? n : v->rows ? (size_t)v->rows : out_is_json() ? n : TEXT_ROWS;
	if (v->folded)
		report_folded(lines, n);
	else if (out_is_json())
		report_json(v, lines, n < max ? n : max);
	else
		report_text(v, lines, n < max ? n : max, n);
	launch_lines_free(lines, n);
}
