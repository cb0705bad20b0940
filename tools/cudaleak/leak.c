/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "cudaleak/leak.h"

struct index {			/* of a group, by what its allocations have in common */
	struct { const void *process, *stack; unsigned long memory; } key;
	size_t at;
	UT_hash_handle hh;
};

struct gathering {
	struct leak_group *groups;
	size_t n, room;
	struct index *indexes;
};

static struct leak_group *new_group(struct gathering *g, const struct mem_process *h,
				    const struct allocation *l)
{
	if (g->n == g->room) {
		g->room = g->room ? 2 * g->room : 64;
		g->groups = xrealloc(g->groups, g->room, sizeof(*g->groups));
	}
	g->groups[g->n] = (struct leak_group){
		.process = h, .stack = l->stack, .oldest = l->time, .ptr = l->key.ptr,
		.tid = l->tid, .id = l->id, .memory = l->memory,
	};
	return &g->groups[g->n++];
}

static struct leak_group *group_of(struct gathering *g, const struct mem_process *h,
				   const struct allocation *l)
{
	struct index *i, want;

	memset(&want, 0, sizeof(want));
	want.key.process = h;
	want.key.stack = l->stack;
	want.key.memory = l->memory;
	HASH_FIND(hh, g->indexes, &want.key, sizeof(want.key), i);
	if (i)
		return &g->groups[i->at];
	i = xcalloc(1, sizeof(*i));
	i->key = want.key;
	i->at = g->n;
	HASH_ADD(hh, g->indexes, key, sizeof(i->key), i);
	return new_group(g, h, l);
}

static void gather(struct gathering *g, const struct mem_process *h, const struct leak_options *o)
{
	unsigned long long latest = o->now - o->older_ms * 1000000ull;
	const struct allocation *l;

	for (l = h->allocations; l; l = l->hh.next) {
		struct leak_group *group;

		if (o->older_ms && l->time > latest)
			continue;
		group = o->each ? new_group(g, h, l) : group_of(g, h, l);
		group->bytes += l->size * o->sample;
		group->count += o->sample;
		if (l->time < group->oldest)
			group->oldest = l->time;
	}
}

static int largest_first(const void *a, const void *b)
{
	const struct leak_group *p = a, *q = b;

	if (p->bytes != q->bytes)
		return p->bytes < q->bytes ? 1 : -1;
	if (p->count != q->count)
		return p->count < q->count ? 1 : -1;
	return p->oldest < q->oldest ? -1 : p->oldest > q->oldest;
}

struct leak_group *leak_groups(const struct mem_process *only, const struct leak_options *o, size_t *n)
{
	struct gathering g = { 0 };
	struct index *i, *next;
	const struct mem_process *h;

	for (h = only ? only : memory_processes; h; h = only ? NULL : h->hh.next)
		gather(&g, h, o);
	HASH_ITER(hh, g.indexes, i, next) {
		HASH_DEL(g.indexes, i);
		free(i);
	}
	if (g.n)
		qsort(g.groups, g.n, sizeof(*g.groups), largest_first);
	*n = g.n;
	return g.groups;
}
