/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "model/mem_process.h"

enum space space_of(unsigned char memory)
{
	return memory == CUDA_ARRAY ? SPACE_ARRAY : memory == CUDA_VMM ? SPACE_VMM :
	       memory == CUDA_TENSOR ? SPACE_TENSOR : SPACE_ADDRESS;
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

static void give_back(struct mem_process *process, size_t size)
{
	quota_give(&process->model->quota, process->user, mem_cost(size));
}

struct allocation *allocation_add(struct mem_process *process, unsigned long long ptr,
				  unsigned char memory, unsigned int device, const struct stack *stack,
				  unsigned long long size)
{
	struct allocation *allocation;
	struct mem_site *group;

	if (!has_room(process, sizeof(*allocation)))
		return ignore(process);
	group = mem_site_of(&process->groups, stack, memory, device);
	if (!group) {
		give_back(process, sizeof(*allocation));
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

void allocation_drop(struct mem_process *process, struct allocation *allocation)
{
	give_back(process, sizeof(*allocation));
	mem_site_drop(&process->groups, allocation->group, allocation->size);
	process->unsure -= allocation->unsure;
	HASH_DEL(process->allocations, allocation);
	free(allocation);
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
	give_back(process, sizeof(*mapping));
	HASH_DEL(process->mappings, mapping);
	free(mapping);
}
