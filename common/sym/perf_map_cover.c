/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "base/die.h"
#include "sym/perf_map_cover.h"

/* Goes through the addresses.  The heap has the functions that began and may not have ended, the newest
 * at its root. */
struct sweep {
	const struct function **heap;
	size_t n;
	struct covered *covered;
	size_t ncovered;
};

static void swap(struct sweep *s, size_t a, size_t b)
{
	const struct function *f = s->heap[a];

	s->heap[a] = s->heap[b];
	s->heap[b] = f;
}

static void push(struct sweep *s, const struct function *f)
{
	size_t at = s->n++;

	s->heap[at] = f;
	for (; at && s->heap[(at - 1) / 2]->age < s->heap[at]->age; at = (at - 1) / 2)
		swap(s, at, (at - 1) / 2);
}

static void pop(struct sweep *s)
{
	size_t at = 0, child;

	s->heap[0] = s->heap[--s->n];
	while ((child = 2 * at + 1) < s->n) {
		if (child + 1 < s->n && s->heap[child + 1]->age > s->heap[child]->age)
			child++;
		if (s->heap[at]->age > s->heap[child]->age)
			break;
		swap(s, at, child);
		at = child;
	}
}

static void emit(struct sweep *s, const struct function *f, unsigned long long start,
		 unsigned long long end)
{
	struct covered *last = s->ncovered ? &s->covered[s->ncovered - 1] : NULL;

	if (last && last->end == start && last->name == f->name)
		last->end = end;
	else
		s->covered[s->ncovered++] = (struct covered){ start, end, f->start, f->name };
}

static int by_start(const void *a, const void *b)
{
	const struct function *f = a, *g = b;

	return (f->start > g->start) - (f->start < g->start);
}

struct covered *perf_map_cover(struct function *functions, size_t nfunctions, size_t *n)
{
	struct sweep s = { 0 };
	unsigned long long at = 0, next;

	s.heap = xcalloc(nfunctions + 1, sizeof(*s.heap));
	s.covered = xcalloc(2 * nfunctions + 1, sizeof(*s.covered));
	if (nfunctions)
		qsort(functions, nfunctions, sizeof(*functions), by_start);
	for (size_t i = 0; i < nfunctions || s.n; ) {
		if (!s.n)
			at = functions[i].start;
		while (i < nfunctions && functions[i].start <= at)
			push(&s, &functions[i++]);
		while (s.n && s.heap[0]->end <= at)
			pop(&s);
		if (!s.n)
			continue;
		next = s.heap[0]->end;
		if (i < nfunctions && functions[i].start < next)
			next = functions[i].start;
		emit(&s, s.heap[0], at, next);
		at = next;
	}
	free(s.heap);
	*n = s.ncovered;
	return s.covered;
}
