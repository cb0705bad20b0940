/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "model/mem_process.h"
#include "sym/stack.h"

static void free_group(struct mem_process *process, struct mem_group *group)
{
	quota_give(&process->model->quota, process->user, mem_cost(sizeof(*group)));
	HASH_DEL(process->groups, group);
	free(group);
}

void mem_groups_free(struct mem_process *process)
{
	struct mem_group *group, *next;

	HASH_ITER(hh, process->groups, group, next)
		free_group(process, group);
}

static bool is_idle(const struct mem_sum *held)
{
	return !held->count && !held->marks[MEM_LAST].count && !held->marks[MEM_FIRST].count;
}

/* Not for a few: each allocation may ask for it, and there may be many groups to go through. */
void mem_groups_drop_idle(struct mem_process *process)
{
	struct mem_group *group, *next;

	if (process->emptied <= HASH_COUNT(process->groups) / 8)
		return;
	HASH_ITER(hh, process->groups, group, next)
		if (is_idle(&group->held))
			free_group(process, group);
	process->emptied = 0;
}

static struct mem_group *new_group(struct mem_process *process, const struct mem_group *want)
{
	size_t cost = mem_cost(sizeof(struct mem_group));
	struct quota *quota = &process->model->quota;
	struct mem_group *group;

	if (!quota_fits(quota, process->user, cost))
		mem_groups_drop_idle(process);
	if (!quota_take(quota, process->user, process->pid, cost))
		return NULL;
	group = xcalloc(1, sizeof(*group));
	group->key = want->key;
	HASH_ADD(hh, process->groups, key, sizeof(group->key), group);
	return group;
}

struct mem_group *mem_group_of(struct mem_process *process, const struct stack *stack,
			       unsigned char memory)
{
	struct mem_group *group, want;

	memset(&want, 0, sizeof(want));
	want.key.stack = stack_shown(stack);
	want.key.memory = memory;
	HASH_FIND(hh, process->groups, &want.key, sizeof(want.key), group);
	return group ? group : new_group(process, &want);
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

void mem_group_add(struct mem_process *process, struct mem_group *group, unsigned long long size)
{
	process->changed |= size;
	add(&process->held, size);
	add(&process->kinds[group->key.memory], size);
	add(&group->held, size);
}

void mem_group_drop(struct mem_process *process, struct mem_group *group, unsigned long long size)
{
	process->changed |= size;
	drop(&process->held, size);
	drop(&process->kinds[group->key.memory], size);
	drop(&group->held, size);
	process->emptied += !group->held.count;
}

static void mark_sum(struct mem_sum *sum, enum mem_mark mark)
{
	sum->marks[mark].bytes = sum->bytes;
	sum->marks[mark].count = sum->count;
}

void mem_groups_mark(struct mem_process *process, enum mem_mark mark)
{
	mark_sum(&process->held, mark);
	for (int i = 0; i < CUDA_MEMORY_MAX; i++)
		mark_sum(&process->kinds[i], mark);
	for (struct mem_group *group = process->groups; group; group = group->hh.next)
		mark_sum(&group->held, mark);
}
