/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "model/mem_group.h"
#include "sym/stack.h"

static void free_group(struct mem_groups *groups, struct mem_group *group)
{
	quota_give(groups->quota, groups->user, mem_cost(sizeof(*group)));
	HASH_DEL(groups->all, group);
	free(group);
}

void mem_groups_free(struct mem_groups *groups)
{
	struct mem_group *group, *next;

	HASH_ITER(hh, groups->all, group, next)
		free_group(groups, group);
}

static bool is_idle(const struct mem_sum *held)
{
	return !held->count && !held->marks[MEM_LAST].count && !held->marks[MEM_FIRST].count;
}

/* Not for a few: each allocation may ask for it, and there may be many groups to go through. */
void mem_groups_drop_idle(struct mem_groups *groups)
{
	struct mem_group *group, *next;

	if (groups->emptied <= HASH_COUNT(groups->all) / 8)
		return;
	HASH_ITER(hh, groups->all, group, next)
		if (is_idle(&group->held))
			free_group(groups, group);
	groups->emptied = 0;
}

static struct mem_group *new_group(struct mem_groups *groups, const struct mem_group *want)
{
	size_t cost = mem_cost(sizeof(struct mem_group));
	struct quota *quota = groups->quota;
	struct mem_group *group;

	if (!quota_fits(quota, groups->user, cost))
		mem_groups_drop_idle(groups);
	if (!quota_take(quota, groups->user, groups->pid, cost))
		return NULL;
	group = xcalloc(1, sizeof(*group));
	group->key = want->key;
	HASH_ADD(hh, groups->all, key, sizeof(group->key), group);
	return group;
}

struct mem_group *mem_group_of(struct mem_groups *groups, const struct stack *stack,
			       unsigned char memory)
{
	struct mem_group *group, want;

	memset(&want, 0, sizeof(want));
	want.key.stack = stack_shown(stack);
	want.key.memory = memory;
	HASH_FIND(hh, groups->all, &want.key, sizeof(want.key), group);
	return group ? group : new_group(groups, &want);
}

/* After a free too: sizes that a program made up may have overflowed the sum. */
static void set(struct mem_sum *sum, unsigned long long count, unsigned long long bytes)
{
	sum->count = count;
	sum->bytes = bytes;
	if (bytes > sum->peak)
		sum->peak = bytes;
}

static void add(struct mem_sum *sum, unsigned long long size)
{
	set(sum, sum->count + 1, sum->bytes + size);
}

static void drop(struct mem_sum *sum, unsigned long long size)
{
	set(sum, sum->count - 1, sum->bytes - size);
}

void mem_group_add(struct mem_groups *groups, struct mem_group *group, unsigned long long size)
{
	groups->changed |= size;
	add(&groups->held, size);
	add(&groups->kinds[group->key.memory], size);
	add(&group->held, size);
}

void mem_group_drop(struct mem_groups *groups, struct mem_group *group, unsigned long long size)
{
	groups->changed |= size;
	drop(&groups->held, size);
	drop(&groups->kinds[group->key.memory], size);
	drop(&group->held, size);
	groups->emptied += !group->held.count;
}

static void mark_sum(struct mem_sum *sum, enum mem_mark mark)
{
	sum->marks[mark].bytes = sum->bytes;
	sum->marks[mark].count = sum->count;
}

void mem_groups_mark(struct mem_groups *groups, enum mem_mark mark)
{
	mark_sum(&groups->held, mark);
	for (int i = 0; i < CUDA_MEMORY_MAX; i++)
		mark_sum(&groups->kinds[i], mark);
	for (struct mem_group *group = groups->all; group; group = group->hh.next)
		mark_sum(&group->held, mark);
}
