/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The allocations and mappings that memory.c follows; for memory.c alone.  All processes of a struct
 * memory together may have 8 million, 1.5 GiB here: what there is beyond is counted as ignored. */
#ifndef MEMORY_LIVE_H
#define MEMORY_LIVE_H
#include "model/memory.h"

/* Addresses share one space; handles have their own. */
enum space { SPACE_ADDRESS, SPACE_ARRAY, SPACE_VMM };

/* NULL if there is none. */
struct allocation *allocation_find(const struct mem_process *process, unsigned long long ptr,
				   enum space space);

/* A new one, which is in no other's place; NULL if there are too many.  It is counted. */
struct allocation *allocation_add(struct mem_process *process, unsigned long long ptr,
				  enum space space, unsigned long long size);

/* Frees it. */
void allocation_drop(struct mem_process *process, struct allocation *allocation);

/* The same for mappings. */
struct mapping *mapping_find(const struct mem_process *process, unsigned long long ptr);
struct mapping *mapping_add(struct mem_process *process, unsigned long long ptr);
void mapping_drop(struct mem_process *process, struct mapping *mapping);

#endif
