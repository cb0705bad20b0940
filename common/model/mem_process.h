/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What a process holds: its allocations and mappings.  All processes of a struct memory together may have
 * 8 million, 1.5 GiB here: what there is beyond is counted as ignored.  The functions are memory.c's. */
#ifndef MEM_PROCESS_H
#define MEM_PROCESS_H
#include <stdbool.h>
#include "base/hash.h"

struct stack;

/* One allocation that is not freed. */
struct allocation {
	struct { unsigned long long ptr, space; } key;
	unsigned long long size, time, location;
	const struct stack *stack;
	unsigned int tid, refs;		/* refs: handles given out, and mappings made */
	unsigned short id;		/* enum cuda_id: what made it */
	unsigned char memory;		/* enum cuda_memory */
	bool unsure;			/* it may be gone with a context or device */
	UT_hash_handle hh;
};

/* A cuMemMap that was not undone: keeps its handle's memory. */
struct vmm_mapping {
	unsigned long long ptr, size, handle;
	UT_hash_handle hh;
};

/* The memory of all processes; begins as zeros, and stays where it is. */
struct memory {
	struct mem_process *processes;	/* each that holds something or did; for HASH_ITER(hh, ...) */
	unsigned int kept;		/* allocations and mappings of all together */
};

struct mem_process {			/* a process */
	struct memory *model;		/* that it is in */
	int pid;
	char comm[16];
	struct allocation *allocations;
	struct vmm_mapping *mappings;
	unsigned long long count;	/* of allocations */
	unsigned long long bytes;
	unsigned long long unknown;	/* frees of what was not seen allocated */
	unsigned long long replaced;	/* allocations whose address came again with no free */
	unsigned long long unsure;	/* how many allocations are */
	unsigned long long ignored;	/* allocations that are not in it: there are too many */
	/* the devices (0) and contexts (1) it was seen to work on: the first, and whether there
	 * is another */
	unsigned long long first[2];
	bool several[2];
	UT_hash_handle hh;
};

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
struct vmm_mapping *vmm_mapping_find(const struct mem_process *process, unsigned long long ptr);
struct vmm_mapping *vmm_mapping_add(struct mem_process *process, unsigned long long ptr);
void vmm_mapping_drop(struct mem_process *process, struct vmm_mapping *mapping);

#endif
