/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "base/escape.h"
#include "base/no_value.h"
#include "cudalaunchtop/launch_line.h"
#include "cudalaunchtop/name_fit.h"
#include "proc/containers.h"
#include "view/stream_field.h"

/* Names should have so many columns, if they are that long; a table of processes needs so many for all of
 * its own. */
enum { NAME = 40, WIDE = 100, STREAM = 14 };

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
		order = more_first(p->row.last.launches, q->row.last.launches);
	else if (v->sort == SORT_THREADS)
		order = more_first(threads(&p->row), threads(&q->row));
	else if (v->sort == SORT_NAME)
		order = strcmp(p->kernel ? p->kernel : p->row.comm, q->kernel ? q->kernel : q->row.comm);
	else if (v->sort == SORT_PID)
		order = more_first(q->row.pid, p->row.pid);
	order = order ? order : more_first(p->row.total.launches, q->row.total.launches);
	order = order ? order : more_first(q->row.pid, p->row.pid);
	if (!order && p->kernel && q->kernel)
		order = strcmp(p->kernel, q->kernel);
	return v->reverse ? -order : order;
}

static void set_container(struct launch_view *v, struct launch_line *l)
{
	const char *id = containers_of(v->containers, l->row.pid);

	if (id)
		memcpy(l->container, id, sizeof(l->container));
	v->contained |= !!id;
}

struct launch_line *launch_lines(struct launch_view *v, bool whole, bool idle, size_t *n)
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
		l->threads = *r->grid ? threads(r) : NO_VALUE;
		if (whole) {
			r->last = r->total;
		}
		if (!idle && !r->last.launches && !r->last.failed)
			continue;
		devices_see(&v->devices, r->device);
		set_container(v, l);
		l->rate = v->interval > 0 ? r->last.launches / v->interval : 0;
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

static int dim_text(char *buf, size_t size, const unsigned *d)
{
	return *d ? snprintf(buf, size, "%ux%ux%u", d[0], d[1], d[2]) : snprintf(buf, size, "-");
}

static void dim(FILE *f, int width, const unsigned *d)
{
	char buf[40];

	dim_text(buf, sizeof(buf), d);
	fprintf(f, " %-*s", width, buf);
}

static void widen(int *width, int n)
{
	if (n > *width)
		*width = n;
}

/* Returns the columns of a name as printed. */
static int text_width(const char *text)
{
	size_t size;
	char *buf;
	FILE *f = open_memstream(&buf, &size);
	int n;

	if (!f)
		die(ENOMEM, "a string");
	n = escape_text(f, text);
	fclose(f);
	free(buf);
	return n;
}

static struct launch_widths widest(const struct launch_line *lines, size_t n, bool narrow)
{
	struct launch_widths w = {
		.narrow = narrow, .shapes = !narrow, .comm = narrow ? 10 : 15, .grid = 11, .block = 10,
		.threads = 9, .name = INT_MAX, .lines = lines,
	};
	char buf[40];

	for (size_t i = 0; i < n; i++) {
		const struct launch_row *r = &lines[i].row;

		widen(&w.comm, text_width(r->comm));
		widen(&w.grid, dim_text(buf, sizeof(buf), r->grid));
		widen(&w.block, dim_text(buf, sizeof(buf), r->block));
		widen(&w.threads, snprintf(buf, sizeof(buf), "%llu", threads(r)));
	}
	return w;
}

static struct name_fit *fit_of(const struct launch_line *lines, size_t n)
{
	const char **names = xcalloc(n + 1, sizeof(*names));
	struct name_fit *fit;

	for (size_t i = 0; i < n; i++)
		names[i] = lines[i].kernel ? lines[i].kernel : "";
	fit = name_fit_new(names, n);
	free(names);
	return fit;
}

int launch_columns(const struct launch_view *v, const struct launch_widths *w)
{
	size_t size;
	char *buf;
	FILE *f = top_view_line(&buf, &size);

	launch_head(f, v, w);
	fclose(f);
	free(buf);
	return v->by_process ? size : size - strlen("KERNEL");
}

struct launch_widths launch_widths(const struct launch_view *v, const struct launch_line *lines, size_t n,
				   int columns)
{
	struct launch_widths w = widest(lines, n, false);
	int wanted;

	if (columns == INT_MAX || v->by_process)
		return columns < WIDE ? widest(lines, n, true) : w;
	w.fit = fit_of(lines, n);
	wanted = name_fit_longest(w.fit) < NAME ? name_fit_longest(w.fit) : NAME;
	w.shapes = columns - launch_columns(v, &w) >= wanted;
	if (columns - launch_columns(v, &w) < wanted) {
		struct name_fit *fit = w.fit;

		w = widest(lines, n, true);
		w.fit = fit;
	}
	w.name = columns - launch_columns(v, &w);
	return w;
}

void launch_widths_free(struct launch_widths *w)
{
	name_fit_free(w->fit);
	w->fit = NULL;
}

void launch_head(FILE *f, const struct launch_view *v, const struct launch_widths *w)
{
	fprintf(f, "%-7s %-*s %*s", "PID", w->comm, "COMM", w->narrow ? 9 : 10,
		w->narrow ? "LAUNCH/S" : "LAUNCHES/S");
	if (!w->narrow)
		fprintf(f, " %10s", "LAUNCHES");
	fprintf(f, " %*s", w->narrow ? 9 : 10, "TOTAL");
	if (v->devices.several)
		fputs(" DEVICE", f);
	if (v->streams)
		fprintf(f, " %*s", STREAM, "STREAM");
	if (v->failed)
		fprintf(f, " %8s", "FAILED");
	if (v->by_process && v->contained)
		fprintf(f, " %-*s", CONTAINER_ID - 1, "CONTAINER");
	if (v->by_process)
		return;
	if (w->shapes)
		fprintf(f, " %-*s %-*s", w->grid, "GRID", w->block, "BLOCK");
	if (!w->narrow)
		fprintf(f, " %*s", w->threads, "THREADS");
	fputs(" KERNEL", f);
}

/* What stands before a kernel's name. */
static char *mark(const struct launch_row *r)
{
	const char *kind = r->kind == LAUNCH_GRAPH ? "[graph] " : r->kind == LAUNCH_COOPERATIVE ?
			   "[cooperative] " : "";

	return r->last.impossible ? xprintf("%s[%llu impossible] ", kind, r->last.impossible) : xstrdup(kind);
}

/* A stack follows the name: half of the columns are left for it. */
static void kernel(FILE *f, const struct launch_view *v, const struct launch_line *l,
		   const struct launch_widths *w)
{
	char *before = mark(&l->row), *name = NULL;
	int columns = w->name - strlen(before);

	if (w->fit && w->name != INT_MAX)
		name = name_fit(w->fit, l - w->lines, v->stacks ? columns / 2 : columns);
	fputs(before, f);
	if (name)
		fputs(name, f);
	else
		escape_text(f, l->kernel);
	free(before);
	free(name);
}

void launch_text(FILE *f, const struct launch_view *v, const struct launch_line *l,
		 const struct launch_widths *w)
{
	const struct launch_row *r = &l->row;
	char number[16];

	fprintf(f, "%-7d ", r->pid);
	fprintf(f, "%*s", w->comm - escape_text(f, r->comm), "");
	fprintf(f, " %*.1f", w->narrow ? 9 : 10, l->rate);
	if (!w->narrow)
		fprintf(f, " %10llu", r->last.launches);
	fprintf(f, " %*llu", w->narrow ? 9 : 10, r->total.launches);
	if (v->devices.several)
		fprintf(f, " %6s", device_text(r->device, number));
	if (v->streams) {
		fputc(' ', f);
		OUT_STREAM->text(f, &(struct field){ .width = STREAM }, &r->stream);
	}
	if (v->failed)
		fprintf(f, " %8llu", r->last.failed);
	if (v->by_process && v->contained)
		fprintf(f, " %-*s", CONTAINER_ID - 1, *l->container ? l->container : "-");
	if (v->by_process)
		return;
	if (w->shapes) {
		dim(f, w->grid, r->grid);
		dim(f, w->block, r->block);
	}
	if (!w->narrow && threads(r))
		fprintf(f, " %*llu", w->threads, threads(r));
	else if (!w->narrow)
		fprintf(f, " %*s", w->threads, "-");
	fputc(' ', f);
	kernel(f, v, l, w);
}
