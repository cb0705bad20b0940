/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The memory that traced programs hold, kept from the records of bpf/lib/memory.bpf.h. */
#ifndef MEMORY_H
#define MEMORY_H
#include <stdbool.h>
#include "api/cuda_fn.h"
#include "base/hash.h"
#include "abi/memory_event.h"

struct stack;

/* The classes of functions that these records come from. */
#define MEMORY_CLASSES (1 << CUDA_ALLOC | 1 << CUDA_FREE | 1 << CUDA_MAP | 1 << CUDA_UNMAP | \
			1 << CUDA_RESET | 1 << CUDA_CTX)

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
struct map {
	unsigned long long ptr, size, handle;
	UT_hash_handle hh;
};

struct mem_process {			/* a process */
	int pid;
	char comm[16];
	struct allocation *allocations;
	struct map *maps;
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

/* What a record did. */
struct memory_effect {
	struct mem_process *process;
	unsigned char memory;		/* of what it made or freed; CUDA_MEM_NONE = not known */
	unsigned long long size;	/* of it, bytes; ~0 = not known */
};

/* Every process that holds something or did; for HASH_ITER(hh, ...). */
extern struct mem_process *memory_processes;

/* Takes the record of a call into account; failed calls change nothing. */
struct memory_effect memory_apply(const struct memory_event *e, const struct stack *stack);

/* The process that this is about, made if it is not known: it has ended, or exec has replaced its
 * program.  For memory_forget(). */
struct mem_process *memory_process(const struct process_event *e);

/* "device", "managed", …; NULL for CUDA_MEM_NONE. */
const char *memory_name(unsigned char memory);

/* Forgets a process that ended, with all that it held. */
void memory_forget(struct mem_process *h);

#endif
