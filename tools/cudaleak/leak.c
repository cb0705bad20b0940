/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "cudaleak/leak.h"
#include "sym/stack.h"

struct leak_index {			/* finds a group by the key that its allocations share */
	struct { const void *stack; unsigned int memory, device; } key;
	size_t at;
	UT_hash_handle hh;
};

struct leak_gathering {
	const struct mem_process *process;
	enum leak_by by;
	struct leak_group *groups;
	size_t n, room;
	struct leak_index *indexes;
};

static struct leak_group *new_group(struct leak_gathering *all, const struct allocation *allocation)
{
	ALLOC_GROW(all->groups, all->n, all->room);
	all->groups[all->n] = (struct leak_group){
		.process = all->process, .stack = allocation->group->key.stack, .oldest = allocation->time,
		.ptr = allocation->key.ptr, .tid = allocation->tid, .id = allocation->id,
		.memory = allocation->group->key.memory, .device = allocation->group->key.device,
	};
	return &all->groups[all->n++];
}

static struct leak_index *find(const struct leak_gathering *all, const struct mem_site *group,
			       struct leak_index *want)
{
	struct leak_index *index;

	memset(want, 0, sizeof(*want));
	if (all->by == LEAK_BY_STACK)
		want->key.stack = stack_shown(group->key.stack);
	if (all->by == LEAK_BY_STACK || all->by == LEAK_BY_KIND)
		want->key.memory = group->key.memory;
	want->key.device = DEVICE_NONE;
	if (all->by == LEAK_BY_STACK || all->by == LEAK_BY_DEVICE)
		want->key.device = group->key.device;
	HASH_FIND(hh, all->indexes, &want->key, sizeof(want->key), index);
	return index;
}

static struct leak_group *group_of(struct leak_gathering *all, const struct allocation *allocation)
{
	struct leak_index want, *index = find(all, allocation->group, &want);
	struct leak_group *group;

	if (index)
		return &all->groups[index->at];
	index = xcalloc(1, sizeof(*index));
	index->key = want.key;
	index->at = all->n;
	HASH_ADD(hh, all->indexes, key, sizeof(index->key), index);
	group = new_group(all, allocation);
	group->stack = want.key.stack;
	group->memory = want.key.memory;
	group->device = want.key.device;
	return group;
}

static bool is_old(const struct allocation *allocation, const struct leak_options *options)
{
	if (!options->older_ns)
		return true;
	return options->now > allocation->time &&
	       options->now - allocation->time >= (unsigned long)options->older_ns;
}

static bool is_chosen(const struct mem_process *process, const struct mem_site *group, const struct leak_options *options)
{
	return options->tensors ? group->key.memory == CUDA_TENSOR : mem_site_is_held(&process->groups, group);
}

static void gather(struct leak_gathering *all, const struct leak_options *options)
{
	const struct allocation *allocation;

	for (allocation = all->process->allocations; allocation; allocation = allocation->hh.next) {
		struct leak_group *group;

		if (!is_old(allocation, options) || !is_chosen(all->process, allocation->group, options))
			continue;
		group = options->each ? new_group(all, allocation) : group_of(all, allocation);
		group->bytes += allocation->size * options->sample;
		group->count += options->sample;
		if (allocation->time < group->oldest)
			group->oldest = allocation->time;
	}
}

static void add_sum(struct leak_group *to, const struct mem_sum *sum,
		    const struct leak_options *options)
{
	to->growth += (long long)(sum->bytes - sum->marks[options->mark].bytes) * options->sample;
	to->growth_count += (long long)(sum->count - sum->marks[options->mark].count) * options->sample;
	if (sum->peak * options->sample > to->peak)
		to->peak = sum->peak * options->sample;
}

const struct mem_sum *leak_sum(const struct mem_process *process, const struct leak_options *options)
{
	return options->tensors ? &process->groups.kinds[CUDA_TENSOR] : &process->groups.held;
}

/* Returns the sum of a kind, a device or the process: peaks do not add up. */
static const struct mem_sum *whole(const struct leak_group *g, const struct leak_options *options)
{
	const struct mem_sites *groups = &g->process->groups;

	return options->by == LEAK_BY_KIND ? &groups->kinds[g->memory] :
	       options->by == LEAK_BY_DEVICE ? mem_device_sum(groups, g->device, options->tensors) :
	       leak_sum(g->process, options);
}

static void add_sums(struct leak_gathering *all, const struct leak_options *options)
{
	const struct mem_site *group;
	struct leak_index want, *index;

	for (size_t i = 0; i < all->n && options->by != LEAK_BY_STACK; i++)
		add_sum(&all->groups[i], whole(&all->groups[i], options), options);
	if (options->by != LEAK_BY_STACK)
		return;
	for (group = all->process->groups.all; group; group = group->hh.next) {
		index = find(all, group, &want);
		if (index)
			add_sum(&all->groups[index->at], &group->held, options);
	}
}

static int more_first(unsigned long long a, unsigned long long b)
{
	return (a < b) - (a > b);
}

static int by_key(const struct leak_group *p, const struct leak_group *q, int sort)
{
	switch (sort) {
	case LEAK_SORT_PEAK:
		return more_first(p->peak, q->peak);
	case LEAK_SORT_GROWTH:
		return (p->growth < q->growth) - (p->growth > q->growth);
	case LEAK_SORT_COUNT:
		return more_first(p->count, q->count);
	case LEAK_SORT_AGE:
		return more_first(q->oldest, p->oldest);
	case LEAK_SORT_DEVICE:	/* none and unknown last */
		return more_first(q->device - 1, p->device - 1);
	}
	return 0;
}

static int compare(const void *a, const void *b, void *ctx)
{
	const struct leak_options *options = ctx;
	const struct leak_group *p = a, *q = b;
	int order = by_key(p, q, options->sort);

	order = order ? order : more_first(p->bytes, q->bytes);
	order = order ? order : more_first(p->count, q->count);
	order = order ? order : more_first(q->oldest, p->oldest);
	return options->reverse ? -order : order;
}

void leak_sort(struct leak_group *groups, size_t n, const struct leak_options *options)
{
	if (n)
		qsort_r(groups, n, sizeof(*groups), compare, (void *)options);
}

struct leak_group *leak_groups(const struct mem_process *process, const struct leak_options *options,
			       size_t *n)
{
	struct leak_gathering all = { .process = process, .by = options->by };

	gather(&all, options);
	if (!options->each)
		add_sums(&all, options);
	HASH_FREE(all.indexes);
	leak_sort(all.groups, all.n, options);
	*n = all.n;
	return all.groups;
}
