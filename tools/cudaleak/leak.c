/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "cudaleak/leak.h"
#include "sym/stack.h"

struct leak_index {			/* finds a group by what its allocations have in common */
	struct { const void *stack; unsigned int memory, device; } key;
	size_t at;
	UT_hash_handle hh;
};

struct leak_gathering {
	const struct mem_process *process;
	struct leak_group *groups;
	size_t n, room;
	struct leak_index *indexes;
};

static struct leak_group *new_group(struct leak_gathering *all, const struct allocation *allocation)
{
	if (all->n == all->room) {
		all->room = all->room ? 2 * all->room : 64;
		all->groups = xrealloc(all->groups, all->room, sizeof(*all->groups));
	}
	all->groups[all->n] = (struct leak_group){
		.process = all->process, .stack = allocation->stack, .oldest = allocation->time,
		.ptr = allocation->key.ptr, .tid = allocation->tid, .id = allocation->id,
		.memory = allocation->memory, .device = allocation->device,
	};
	return &all->groups[all->n++];
}

static struct leak_group *group_of(struct leak_gathering *all, const struct allocation *allocation)
{
	struct leak_index *index, want;

	memset(&want, 0, sizeof(want));
	want.key.stack = stack_shown(allocation->stack);
	want.key.memory = allocation->memory;
	want.key.device = allocation->device;
	HASH_FIND(hh, all->indexes, &want.key, sizeof(want.key), index);
	if (index)
		return &all->groups[index->at];
	index = xcalloc(1, sizeof(*index));
	index->key = want.key;
	index->at = all->n;
	HASH_ADD(hh, all->indexes, key, sizeof(index->key), index);
	return new_group(all, allocation);
}

static bool is_old(const struct allocation *allocation, const struct leak_options *options)
{
	if (!options->older_ms)
		return true;
	return options->now > allocation->time &&
	       (options->now - allocation->time) / 1000000 >= (unsigned long)options->older_ms;
}

static void gather(struct leak_gathering *all, const struct leak_options *options)
{
	const struct allocation *allocation;

	for (allocation = all->process->allocations; allocation; allocation = allocation->hh.next) {
		struct leak_group *group;

		if (!is_old(allocation, options))
			continue;
		group = options->each ? new_group(all, allocation) : group_of(all, allocation);
		group->bytes += allocation->size * options->sample;
		group->count += options->sample;
		if (allocation->time < group->oldest)
			group->oldest = allocation->time;
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

struct leak_group *leak_groups(const struct mem_process *process, const struct leak_options *options,
			       size_t *n)
{
	struct leak_gathering all = { .process = process };
	struct leak_index *index, *next;

	gather(&all, options);
	HASH_ITER(hh, all.indexes, index, next) {
		HASH_DEL(all.indexes, index);
		free(index);
	}
	if (all.n)
		qsort(all.groups, all.n, sizeof(*all.groups), largest_first);
	*n = all.n;
	return all.groups;
}
