/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "base/util.h"
#include "cudalaunchtop/launch_lines.h"
#include "proc/containers.h"

enum { SORT_LAUNCHES, SORT_TOTAL, SORT_THREADS, SORT_NAME, SORT_PID };

static unsigned long long product(const unsigned *d)
{
	return (unsigned long long)d[0] * d[1] * d[2];
}

unsigned long long launch_threads(const struct launch_row *r)
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
		order = more_first(launch_threads(&p->row), launch_threads(&q->row));
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
		l->threads = *r->grid ? launch_threads(r) : NO_VALUE;
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
