/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "model/mem_process.h"
#include "sym/stack.h"

/* Memory that a process holds, and held at most, by kind of memory, device and call stack.  The functions are for
 * mem_process.c and memory.c. */

static void free_group(struct mem_sites *groups, struct mem_site *group)
{
	quota_give(groups->quota, groups->user, mem_cost(sizeof(*group)));
	HASH_DEL(groups->all, group);
	if (groups->last == group)
		groups->last = NULL;
	free(group);
}

static void free_devices(struct mem_sites *groups)
{
	struct mem_device *device, *next;

	HASH_ITER(hh, groups->devices, device, next) {
		quota_give(groups->quota, groups->user, mem_cost(sizeof(*device)));
		HASH_DEL(groups->devices, device);
		free(device);
	}
}

void mem_sites_free(struct mem_sites *groups)
{
	struct mem_site *group, *next;

	HASH_ITER(hh, groups->all, group, next)
		free_group(groups, group);
	free_devices(groups);
}

static bool is_idle(const struct mem_sum *held)
{
	return !held->count && !held->marks[MEM_LAST].count && !held->marks[MEM_FIRST].count;
}

/* Not for a few: each allocation may ask for it, and there may be many groups to go through. */
static void mem_sites_drop_idle(struct mem_sites *groups)
{
	struct mem_site *group, *next;

	if (groups->emptied <= HASH_COUNT(groups->all) / 8)
		return;
	HASH_ITER(hh, groups->all, group, next)
		if (is_idle(&group->held))
			free_group(groups, group);
	groups->emptied = 0;
}

/* Returns zeroes; NULL if there is no room. */
static void *mem_process_allocate(struct mem_sites *groups, size_t size)
{
	size_t cost = mem_cost(size);

	if (!quota_fits(groups->quota, groups->user, cost))
		mem_sites_drop_idle(groups);
	return quota_take(groups->quota, groups->user, groups->pid, cost) ? xcalloc(1, size) : NULL;
}

static struct mem_device *find_device(const struct mem_sites *groups, unsigned int number)
{
	struct mem_device *device;

	HASH_FIND_INT(groups->devices, &number, device);
	return device;
}

static struct mem_device *mem_process_device_of(struct mem_sites *groups, unsigned int number)
{
	struct mem_device *device = find_device(groups, number);

	if (device)
		return device;
	device = mem_process_allocate(groups, sizeof(*device));
	if (!device)
		return NULL;
	device->device = number;
	HASH_ADD_INT(groups->devices, device, device);
	return device;
}

const struct mem_sum *mem_device_sum(const struct mem_sites *groups, unsigned int number, bool tensors)
{
	const struct mem_device *device = find_device(groups, number);

	return !device ? NULL : tensors ? &device->tensors : &device->held;
}

void mem_device_limit(struct mem_sites *groups, unsigned int number, unsigned long long limit, unsigned long long bytes)
{
	struct mem_device *device = limit < MEM_LIMITS ? mem_process_device_of(groups, number) : NULL;

	if (!device)
		return;
	device->limits[limit] = bytes;
	device->limited[limit] = true;
}

void mem_device_replayed(struct mem_sites *groups, unsigned int number, unsigned long long bytes)
{
	struct mem_device *device = bytes ? mem_process_device_of(groups, number) : NULL;

	if (device && device->graphs < bytes)
		device->graphs = bytes;
}

void mem_device_unlimit(struct mem_sites *groups, unsigned int number)
{
	struct mem_device *device = find_device(groups, number);

	if (device)
		memset(device->limited, 0, sizeof(device->limited));
}

static struct mem_site *new_group(struct mem_sites *groups, const struct mem_site *want)
{
	struct mem_device *device = mem_process_device_of(groups, want->key.device);
	struct mem_site *group = device ? mem_process_allocate(groups, sizeof(*group)) : NULL;

	if (!group)
		return NULL;
	group->key = want->key;
	group->on = device;
	HASH_ADD(hh, groups->all, key, sizeof(group->key), group);
	return group;
}

/* Returns the group of this stack, kind and device; NULL if there are too many. */
static struct mem_site *mem_site_of(struct mem_sites *groups, const struct stack *stack,
			       unsigned char memory, unsigned int device)
{
	struct mem_site *group = groups->last, want;

	memset(&want, 0, sizeof(want));
	want.key.stack = stack_shown(stack);
	want.key.memory = memory;
	want.key.device = device;
	if (group && !memcmp(&group->key, &want.key, sizeof(want.key)))
		return group;
	HASH_FIND(hh, groups->all, &want.key, sizeof(want.key), group);
	groups->last = group ? group : new_group(groups, &want);
	return groups->last;
}

/* After a free too: sizes that a program made up may have overflowed the sum. */
static void set(struct mem_sum *sum, unsigned long long count, unsigned long long bytes)
{
	sum->count = count;
	sum->bytes = bytes;
	if (bytes > sum->peak)
		sum->peak = bytes;
}

static void mem_process_add(struct mem_sum *sum, unsigned long long size)
{
	set(sum, sum->count + 1, sum->bytes + size);
}

static void mem_process_drop(struct mem_sum *sum, unsigned long long size)
{
	set(sum, sum->count - 1, sum->bytes - size);
}

bool mem_site_is_held(const struct mem_sites *groups, const struct mem_site *group)
{
	return group->key.memory != CUDA_TENSOR && (group->key.memory < CUDA_CODE || groups->handles);
}

static struct mem_sum *device_sum(const struct mem_sites *groups, const struct mem_site *group)
{
	return mem_site_is_held(groups, group) ? &group->on->held :
	       group->key.memory == CUDA_TENSOR ? &group->on->tensors : &group->on->code;
}

/* Add and remove an allocation of the group, in the sums of its kind, device and process too. */
static void mem_site_add(struct mem_sites *groups, struct mem_site *group, unsigned long long size)
{
	groups->changed |= size;
	if (mem_site_is_held(groups, group))
		mem_process_add(&groups->held, size);
	mem_process_add(&groups->kinds[group->key.memory], size);
	mem_process_add(device_sum(groups, group), size);
	mem_process_add(&group->held, size);
}

static void mem_site_drop(struct mem_sites *groups, struct mem_site *group, unsigned long long size)
{
	groups->changed |= size;
	if (mem_site_is_held(groups, group))
		mem_process_drop(&groups->held, size);
	mem_process_drop(&groups->kinds[group->key.memory], size);
	mem_process_drop(device_sum(groups, group), size);
	mem_process_drop(&group->held, size);
	groups->emptied += !group->held.count;
}

static void mark_sum(struct mem_sum *sum, enum mem_snapshot mark)
{
	sum->marks[mark].bytes = sum->bytes;
	sum->marks[mark].count = sum->count;
}

void mem_sites_mark(struct mem_sites *groups, enum mem_snapshot mark)
{
	mark_sum(&groups->held, mark);
	for (int i = 0; i < CUDA_MEMORY_MAX; i++)
		mark_sum(&groups->kinds[i], mark);
	for (struct mem_device *device = groups->devices; device; device = device->hh.next) {
		mark_sum(&device->held, mark);
		mark_sum(&device->tensors, mark);
		mark_sum(&device->code, mark);
	}
	for (struct mem_site *group = groups->all; group; group = group->hh.next)
		mark_sum(&group->held, mark);
}

enum space space_of(unsigned char memory)
{
	return memory == CUDA_ARRAY ? SPACE_ARRAY : memory == CUDA_VMM ? SPACE_VMM :
	       memory == CUDA_TENSOR ? SPACE_TENSOR : memory >= CUDA_CODE ? SPACE_CODE + memory - CUDA_CODE : SPACE_ADDRESS;
}

struct allocation *allocation_find(const struct mem_process *process, unsigned long long ptr,
				   enum space space)
{
	struct { unsigned long long ptr, space; } key = { ptr, space };
	struct allocation *allocation;

	HASH_FIND(hh, process->allocations, &key, sizeof(key), allocation);
	return allocation;
}

static bool has_room(struct mem_process *process, size_t size)
{
	struct quota *quota = &process->model->quota;

	if (!quota_fits(quota, process->user, mem_cost(size)))
		mem_sites_drop_idle(&process->groups);
	return quota_take(quota, process->user, process->pid, mem_cost(size));
}

static void *ignore(struct mem_process *process)
{
	process->ignored++;
	return NULL;
}

static void mem_process_give_back(struct mem_process *process, size_t size)
{
	quota_give(&process->model->quota, process->user, mem_cost(size));
}

struct allocation *allocation_add(struct mem_process *process, unsigned long long ptr,
				  unsigned char memory, unsigned int device, const struct stack *stack,
				  unsigned long long size)
{
	struct allocation *allocation;
	struct mem_site *group;

	size = process->groups.handles ? 1 : size;
	if (!has_room(process, sizeof(*allocation)))
		return ignore(process);
	group = mem_site_of(&process->groups, stack, memory, device);
	if (!group) {
		mem_process_give_back(process, sizeof(*allocation));
		return ignore(process);
	}
	allocation = xcalloc(1, sizeof(*allocation));
	allocation->key.ptr = ptr;
	allocation->key.space = space_of(memory);
	allocation->size = size;
	allocation->group = group;
	HASH_ADD(hh, process->allocations, key, sizeof(allocation->key), allocation);
	mem_site_add(&process->groups, group, size);
	return allocation;
}

void allocation_resize(struct mem_process *process, struct allocation *allocation, unsigned long long size)
{
	mem_site_drop(&process->groups, allocation->group, allocation->size);
	allocation->size = size;
	mem_site_add(&process->groups, allocation->group, size);
}

static void exported_drop(struct memory *memory, struct exported *exported)
{
	if (!exported)
		return;
	HASH_DEL(memory->exported, exported);
	HASH_DELETE(hh_key, memory->exported_keys, exported);
	quota_give(&memory->quota, exported->user, mem_cost(sizeof(*exported)));
	free(exported);
}

struct exported *exported_of(const struct memory *memory, unsigned long long handle)
{
	struct exported *exported;

	HASH_FIND(hh, memory->exported, &handle, sizeof(handle), exported);
	return exported;
}

static void unexport(struct mem_process *process, struct allocation *allocation)
{
	struct exported want = { .key = { allocation->key.ptr, process->pid } }, *exported;

	HASH_FIND(hh_key, process->model->exported_keys, &want.key, sizeof(want.key), exported);
	exported_drop(process->model, exported);
	allocation->exported = false;
}

void allocation_export(struct mem_process *process, struct allocation *allocation, unsigned long long handle)
{
	struct memory *memory = process->model;
	struct exported *exported;

	if (allocation->exported)
		unexport(process, allocation);
	exported_drop(memory, exported_of(memory, handle));
	if (!quota_take(&memory->quota, process->user, process->pid, mem_cost(sizeof(*exported))))
		return;
	exported = xcalloc(1, sizeof(*exported));
	*exported = (struct exported){ .handle = handle, .key = { allocation->key.ptr, process->pid }, .size = allocation->size,
				       .user = process->user };
	HASH_ADD(hh, memory->exported, handle, sizeof(exported->handle), exported);
	HASH_ADD(hh_key, memory->exported_keys, key, sizeof(exported->key), exported);
	allocation->exported = true;
}

void allocation_drop(struct mem_process *process, struct allocation *allocation)
{
	if (allocation->exported)
		unexport(process, allocation);
	mem_process_give_back(process, sizeof(*allocation));
	mem_site_drop(&process->groups, allocation->group, allocation->size);
	process->unsure -= allocation->unsure;
	HASH_DEL(process->allocations, allocation);
	free(allocation);
}

enum { OWED_FREES = 4096 };

static struct owed_frees *owed_at(const struct mem_process *process, unsigned long long ptr, enum space space)
{
	struct { unsigned long long ptr, space; } key = { ptr, space };
	struct owed_frees *owed;

	HASH_FIND(hh, process->owed, &key, sizeof(key), owed);
	return owed;
}

static void owed_drop(struct mem_process *process, struct owed_frees *owed)
{
	HASH_DEL(process->owed, owed);
	mem_process_give_back(process, sizeof(*owed));
	free(owed);
}

void owed_frees_drop(struct mem_process *process)
{
	struct owed_frees *owed, *next;

	HASH_ITER(hh, process->owed, owed, next)
		owed_drop(process, owed);
}

void allocation_replaced(struct mem_process *process, const struct allocation *old, unsigned long long time)
{
	struct owed_frees *owed = owed_at(process, old->key.ptr, old->key.space);

	process->replaced++;
	if (!owed && HASH_COUNT(process->owed) >= OWED_FREES)
		owed_drop(process, process->owed);	/* the oldest: its free would have come */
	if (!owed && has_room(process, sizeof(*owed))) {
		owed = xcalloc(1, sizeof(*owed));
		owed->key.ptr = old->key.ptr;
		owed->key.space = old->key.space;
		HASH_ADD(hh, process->owed, key, sizeof(owed->key), owed);
	}
	if (!owed)
		return;
	owed->time = time;
	owed->n++;
}

bool free_was_owed(struct mem_process *process, unsigned long long ptr, enum space space, unsigned long long start)
{
	struct owed_frees *owed = owed_at(process, ptr, space);

	if (!owed || owed->time <= start)
		return false;
	process->replaced--;
	if (!--owed->n)
		owed_drop(process, owed);
	return true;
}

struct vmm_mapping *vmm_mapping_find(const struct mem_process *process, unsigned long long ptr)
{
	struct vmm_mapping *mapping;

	HASH_FIND(hh, process->mappings, &ptr, sizeof(ptr), mapping);
	return mapping;
}

struct vmm_mapping *vmm_mapping_add(struct mem_process *process, unsigned long long ptr)
{
	struct vmm_mapping *mapping;

	if (!has_room(process, sizeof(*mapping)))
		return ignore(process);
	mapping = xcalloc(1, sizeof(*mapping));
	mapping->ptr = ptr;
	HASH_ADD(hh, process->mappings, ptr, sizeof(mapping->ptr), mapping);
	return mapping;
}

void vmm_mapping_drop(struct mem_process *process, struct vmm_mapping *mapping)
{
	mem_process_give_back(process, sizeof(*mapping));
	HASH_DEL(process->mappings, mapping);
	free(mapping);
}
