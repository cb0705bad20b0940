/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The allocations and mappings that memory.c follows; for memory.c alone.  All processes together
 * may have 8 million, 1.5 GiB here: what there is beyond is counted as ignored. */
#ifndef MEMORY_LIVE_H
#define MEMORY_LIVE_H
#include "model/memory.h"

/* Addresses share one space; handles have their own. */
enum space { SPACE_ADDRESS, SPACE_ARRAY, SPACE_VMM };

struct allocation *allocation_find(const struct mem_process *h, unsigned long long ptr, enum space space);

/* A new one, which is in no other's place; NULL if there are too many.  It is counted. */
struct allocation *allocation_add(struct mem_process *h, unsigned long long ptr, enum space space,
		      unsigned long long size);
void allocation_drop(struct mem_process *h, struct allocation *l);

struct map *map_find(const struct mem_process *h, unsigned long long ptr);
struct map *map_add(struct mem_process *h, unsigned long long ptr);
void map_drop(struct mem_process *h, struct map *m);

#endif
