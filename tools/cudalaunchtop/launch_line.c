/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "base/escape.h"
#include "cudalaunchtop/launch_line.h"

enum { SORT_LAUNCHES, SORT_TOTAL, SORT_THREADS, SORT_NAME, SORT_PID };

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

static int by_sort(const void *a, const void *b, void *ctx)
{
	const struct launch_view *v = ctx;
	const struct launch_line *p = a, *q = b;
	int order = 0;

	if (v->sort == SORT_LAUNCHES)
		order = more_first(p->row.launches, q->row.launches);
	else if (v->sort == SORT_THREADS)
		order = more_first(threads(&p->row), threads(&q->row));
	else if (v->sort == SORT_NAME)
		order = strcmp(p->kernel ? p->kernel : p->row.comm, q->kernel ? q->kernel : q->row.comm);
	else if (v->sort == SORT_PID)
		order = more_first(q->row.pid, p->row.pid);
	order = order ? order : more_first(p->row.total, q->row.total);
	order = order ? order : more_first(q->row.pid, p->row.pid);
	if (!order && p->kernel && q->kernel)
		order = strcmp(p->kernel, q->kernel);
	return v->reverse ? -order : order;
}

struct launch_line *launch_lines(const struct launch_view *v, bool whole, bool idle, size_t *n)
{
	static const char *const kinds[] = { "kernel", "cooperative", "graph" };
	enum launches_by by = v->by_process ? LAUNCHES_BY_PROCESS : v->full ? LAUNCHES_BY_FULL :
			      LAUNCHES_BY_BRIEF;
	struct launch_row *rows = launches_rows(v->launches, by, n);
	struct launch_line *lines = xcalloc(*n + 1, sizeof(*lines));
	size_t kept = 0;

	for (size_t i = 0; i < *n; i++) {
		struct launch_line *l = &lines[kept];
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
	qsort_r(lines, kept, sizeof(*lines), by_sort, (void *)v);
	*n = kept;
	return lines;
}

void launch_lines_free(struct launch_line *lines, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(lines[i].address);
	free(lines);
}

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

void launch_text(FILE *f, const struct launch_view *v, const struct launch_line *l, bool narrow)
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
