/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What a process holds: its allocations and mappings.  All processes of a struct memory together
 * may have some 440,000, one user half of them; more are only counted, as ignored.  The functions
 * are for memory.c. */
#ifndef MEM_PROCESS_H
#define MEM_PROCESS_H
#include <stdbool.h>
#include "base/hash.h"
#include "base/quota.h"
#include "model/mem_site.h"

/* One allocation not freed yet. */
struct allocation {
	struct { unsigned long long ptr, space; } key;
	unsigned long long size, time, location;
	struct mem_site *group;	/* of its process */
	unsigned int tid, refs;		/* refs: handles returned and mappings made */
	unsigned short id;		/* enum cuda_id: the function that made it */
	bool unsure;			/* may be gone with a context or device */
	UT_hash_handle hh;
};

/* A cuMemMap not undone yet: keeps the memory of its handle. */
struct vmm_mapping {
	unsigned long long ptr, size, handle;
	UT_hash_handle hh;
};

/* Which allocations without a size are kept: the probes choose among the others. */
struct memory_filter {
	bool any;		/* the probes leave out some */
	unsigned long long min;	/* bytes: what has no size is smaller than any but 0 */
	unsigned sample;	/* keep one in this many; 0 = all */
	unsigned long long devices;	/* bit n: on device n; 0 = on all */
};

/* The memory of all processes; starts as MEMORY_INIT, and must not move. */
struct memory {
	struct mem_process *processes;	/* that hold or held something; for HASH_ITER(hh, ...) */
	struct mem_process *last;	/* whose call came last: most come from the same again */
	struct quota quota;		/* in bytes */
	struct memory_filter filter;	/* set by the tool */
	/* Set by the tool, or NULL: returns true if the process used CUDA before tracing began. */
	bool (*is_early)(void *ctx, int pid);
	void *ctx;
};

#define MEMORY_INIT { .quota = {							\
	.limit = 64 << 20, .what = "allocations not freed",				\
	.loss = "further ones are only counted",					\
} }

/* Bytes for the allocations of one user's programs, when no other's are traced: a million. */
#define MEMORY_ALONE	(176 << 20)

struct mem_process {
	struct memory *model;		/* that contains it */
	int pid;
	unsigned user;			/* proc_user() */
	char comm[16];
	bool preexisting;			/* it may hold memory from before tracing began */
	struct allocation *allocations;
	struct vmm_mapping *mappings;
	struct mem_sites groups;	/* the sums of what it holds */
	unsigned long long unknown;	/* frees of memory whose allocation was not seen */
	unsigned long long replaced;	/* allocations whose address came again without a free */
	unsigned long long unsure;	/* allocations marked unsure */
	unsigned long long ignored;	/* allocations and mappings not kept: too many */
	/* the devices (0) and contexts (1) it was seen to use: the first one, and whether there are
	 * others */
	unsigned long long first[2];
	bool several[2];
	UT_hash_handle hh;
};

/* Addresses share one space; handles have their own spaces, and tensors, which begin where other memory
 * does. */
enum space { SPACE_ADDRESS, SPACE_ARRAY, SPACE_VMM, SPACE_TENSOR };
enum space space_of(unsigned char memory);

/* Returns NULL if there is none. */
struct allocation *allocation_find(const struct mem_process *process, unsigned long long ptr,
				   enum space space);

/* Adds and counts an allocation; there must be none at this key, memory is an enum cuda_memory, and
 * device as in abi/device.h.  stack may be NULL.  Returns NULL if there are too many. */
struct allocation *allocation_add(struct mem_process *process, unsigned long long ptr,
				  unsigned char memory, unsigned int device, const struct stack *stack,
				  unsigned long long size);

/* Removes and frees it. */
void allocation_drop(struct mem_process *process, struct allocation *allocation);

/* The same for mappings. */
struct vmm_mapping *vmm_mapping_find(const struct mem_process *process, unsigned long long ptr);
struct vmm_mapping *vmm_mapping_add(struct mem_process *process, unsigned long long ptr);
void vmm_mapping_drop(struct mem_process *process, struct vmm_mapping *mapping);

#endif
