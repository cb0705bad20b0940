/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "model/mem_process.h"

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
	bool has = quota_take(&process->model->quota, process->user, process->pid, mem_cost(size));

	process->ignored += !has;
	return has;
}

static void give_back(struct mem_process *process, size_t size)
{
	quota_give(&process->model->quota, process->user, mem_cost(size));
}

struct allocation *allocation_add(struct mem_process *process, unsigned long long ptr,
				  enum space space, unsigned long long size)
{
	struct allocation *allocation;

	if (!has_room(process, sizeof(*allocation)))
		return NULL;
	allocation = xcalloc(1, sizeof(*allocation));
	allocation->key.ptr = ptr;
	allocation->key.space = space;
	allocation->size = size;
	HASH_ADD(hh, process->allocations, key, sizeof(allocation->key), allocation);
	process->count++;
	process->bytes += size;
	return allocation;
}

void allocation_drop(struct mem_process *process, struct allocation *allocation)
{
	give_back(process, sizeof(*allocation));
	process->count--;
	process->bytes -= allocation->size;
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
		return NULL;
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
