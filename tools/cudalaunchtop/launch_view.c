/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "base/clock.h"
#include "abi/cudalaunchtop.h"
#include "base/die.h"
#include "base/escape.h"
#include "sym/kernels.h"
#include "cudalaunchtop/launch_line.h"
#include "cudalaunchtop/launch_view.h"
#include "cli/out.h"
#include "view/stack_view.h"
#include "sym/syms.h"
#include "cli/top_screen.h"

enum { SORT_LAUNCHES, SORT_TOTAL, SORT_THREADS, SORT_NAME, SORT_PID };
enum { TEXT_ROWS = 20 };

#define AT(f) offsetof(struct line, f)
enum { GRID = 8, FAILED = 10, STACK };
static struct field fields[] = {	/* the text is launch_text()'s */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "interval_s", NULL, 0, OUT_REAL, AT(interval) },
	{ "pid", NULL, 0, OUT_INT, AT(row.pid) },
	{ "comm", NULL, 0, OUT_STR, AT(row.comm) },
	{ "kernel", NULL, 0, OUT_STR, AT(kernel) },
	{ "kind", NULL, 0, OUT_STR, AT(kind) },
	{ "launches", NULL, 0, OUT_UINT, AT(row.launches) },
	{ "launches_per_s", NULL, 0, OUT_REAL, AT(rate) },
	[GRID] = { "grid", NULL, 0, OUT_DIM, AT(row.grid) },
	{ "block", NULL, 0, OUT_DIM, AT(row.block) },
	[FAILED] = { "failed", NULL, 0, OUT_UINT, AT(row.failed) },
	[STACK] = { "stack", NULL, 0, OUT_STACK, AT(row.stack) },
	{ 0 }
};

static const struct launch_view *sorting;

static unsigned long long product(const unsigned *d)
{
	return (unsigned long long)d[0] * d[1] * d[2];
}

static unsigned long long threads(const struct launch_row *r)
{
	return product(r->grid) * product(r->block);
}

static int more_first(unsigned long long a, unsigned long long b)
{
	return (a < b) - (a > b);
}

static int by_sort(const void *a, const void *b)
{
	const struct line *p = a, *q = b;
	int order = 0;

	if (sorting->sort == SORT_LAUNCHES)
		order = more_first(p->row.launches, q->row.launches);
	else if (sorting->sort == SORT_THREADS)
		order = more_first(threads(&p->row), threads(&q->row));
	else if (sorting->sort == SORT_NAME)
		order = strcmp(p->kernel ? p->kernel : p->row.comm, q->kernel ? q->kernel : q->row.comm);
	else if (sorting->sort == SORT_PID)
		order = more_first(q->row.pid, p->row.pid);
	order = order ? order : more_first(p->row.total, q->row.total);
	order = order ? order : more_first(q->row.pid, p->row.pid);
	if (!order && p->kernel && q->kernel)
		order = strcmp(p->kernel, q->kernel);
	return sorting->reverse ? -order : order;
}

/* The rows in their order; idle ones too, or what was launched in the interval only. */
struct line *launch_lines(const struct launch_view *v, bool whole, bool idle, size_t *n)
{
	static const char *const kinds[] = { "kernel", "cooperative", "graph" };
	struct launch_row *rows = launches_rows(v->by_process ? LAUNCHES_BY_PROCESS : v->full ?
						LAUNCHES_BY_FULL : LAUNCHES_BY_BRIEF, n);
	struct line *lines = xcalloc(*n + 1, sizeof(*lines));
	size_t kept = 0;

	for (size_t i = 0; i < *n; i++) {
		struct line *l = &lines[kept];
		struct launch_row *r = &l->row;

		*r = rows[i];
		l->time = v->counted;
		l->interval = v->interval;
		if (whole) {
			r->launches = r->total;
			r->failed = r->total_failed;
		}
		if (!idle && !r->launches && !r->failed)
			continue;
		l->rate = v->interval > 0 ? r->launches / v->interval : 0;
		if (r->kind >= 0) {
			l->kind = kinds[r->kind % LAUNCH_KIND_MAX];
			l->address = r->kernel ? NULL : xprintf("0x%llx", r->func);
			l->kernel = !r->kernel ? l->address : v->full ? r->kernel->full :
				    r->kernel->brief;
		}
		kept++;
	}
	free(rows);
	sorting = v;
	qsort(lines, kept, sizeof(*lines), by_sort);
	*n = kept;
	return lines;
}

void launch_lines_free(struct line *lines, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(lines[i].address);
	free(lines);
}

/* ---- text: the same columns in blocks and on the screen, narrower where that is */

static void dim(FILE *f, int width, const unsigned *d)
{
	char buf[40] = "-";

	if (*d)
		snprintf(buf, sizeof(buf), "%ux%ux%u", d[0], d[1], d[2]);
	fprintf(f, " %-*s", width, buf);
}

void launch_head(FILE *f, const struct launch_view *v, bool narrow)
{
	fprintf(f, "%-7s %-*s %*s", "PID", narrow ? 10 : 15, "COMM", narrow ? 9 : 10,
		narrow ? "LAUNCH/S" : "LAUNCHES/S");
	if (!narrow)
		fprintf(f, " %10s", "LAUNCHES");
	fprintf(f, " %*s", narrow ? 9 : 10, "TOTAL");
	if (v->failed)
		fprintf(f, " %8s", "FAILED");
	if (v->by_process)
		return;
	fprintf(f, " %-*s %-*s", narrow ? 9 : 11, "GRID", narrow ? 8 : 10, "BLOCK");
	if (!narrow)
		fprintf(f, " %9s", "THREADS");
	fputs(" KERNEL", f);
}

void launch_text(FILE *f, const struct launch_view *v, const struct line *l, bool narrow)
{
	const struct launch_row *r = &l->row;
	int columns;

	fprintf(f, "%-7d ", r->pid);
	columns = escape_text(f, r->comm);
	fprintf(f, "%*s", columns < (narrow ? 10 : 15) ? (narrow ? 10 : 15) - columns : 0, "");
	fprintf(f, " %*.1f", narrow ? 9 : 10, l->rate);
	if (!narrow)
		fprintf(f, " %10llu", r->launches);
	fprintf(f, " %*llu", narrow ? 9 : 10, r->total);
	if (v->failed)
		fprintf(f, " %8llu", r->failed);
	if (v->by_process)
		return;
	dim(f, narrow ? 9 : 11, r->grid);
	dim(f, narrow ? 8 : 10, r->block);
	if (!narrow && threads(r))
		fprintf(f, " %9llu", threads(r));
	else if (!narrow)
		fprintf(f, " %9s", "-");
	fputs(r->kind == LAUNCH_GRAPH ? " [graph] " : r->kind == LAUNCH_COOPERATIVE ?
	      " [cooperative] " : " ", f);
	escape_text(f, l->kernel);
}

/* A line of a block; a terminal would break it. */
static void print_text(const struct launch_view *v, const struct line *l)
{
	struct winsize w = { 0 };
	int columns = INT_MAX, used;
	size_t size;
	char *buf;
	FILE *f = top_view_line(&buf, &size);

	if (isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_col)
		columns = w.ws_col;
	launch_text(f, v, l, false);
	fclose(f);
	printf("%.*s\n", screen_fit(buf, columns, &used), buf);
	free(buf);
}

void launch_measure(struct launch_view *v, bool whole)
{
	unsigned long long then = whole ? v->began : v->counted;

	launches_count();
	v->counted = clock_ns();
	v->interval = (v->counted - then) / 1e9;
}

void launch_view_start(struct launch_view *v)
{
	v->began = v->counted = clock_ns();
	launch_view_screen(v);
	fields[FAILED].key = v->failed ? "failed" : NULL;
	fields[STACK].key = v->stacks ? "stack" : NULL;
}

void launch_view_report(struct launch_view *v, bool whole)
{
	static bool again;
	struct line *lines;
	size_t n, max;

	launch_measure(v, whole);
	lines = launch_lines(v, whole, false, &n);
	max = v->rows ? (size_t)v->rows : out_is_json() ? n : TEXT_ROWS;
	if (!out_is_json()) {
		if (again)
			putchar('\n');
		again = true;
		launch_head(stdout, v, false);
		putchar('\n');
	}
	for (size_t i = 0; i < n && i < max; i++) {
		if (out_is_json()) {
			out_row(fields, &lines[i]);
			continue;
		}
		print_text(v, &lines[i]);
		if (v->stacks)
			stack_text(lines[i].row.stack);
	}
	if (n > max && !out_is_json())
		printf("... and %zu more\n", n - max);
	launch_lines_free(lines, n);
}
