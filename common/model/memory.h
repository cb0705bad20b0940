/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The memory that traced programs hold, kept from the records of bpf/lib/memory.bpf.h. */
#ifndef MEMORY_H
#define MEMORY_H
#include "api/cuda_fn.h"
#include "abi/memory_event.h"
#include "model/mem_process.h"

struct stack;

/* The classes of functions that these records come from. */
#define MEMORY_CLASSES (1 << CUDA_ALLOC | 1 << CUDA_FREE | 1 << CUDA_MAP | 1 << CUDA_UNMAP | \
			1 << CUDA_RESET | 1 << CUDA_CTX)

/* What a record did. */
struct memory_effect {
	struct mem_process *process;
	unsigned char memory;		/* of what it made or freed; CUDA_MEM_NONE = not known */
	unsigned long long size;	/* of it, bytes; ~0 = not known */
};

/* Takes the record of a call into account; failed calls change nothing.  The stack must live as long as what the
 * record allocates; it may be NULL. */
struct memory_effect memory_apply(struct memory *memory, const struct memory_event *event,
				  const struct stack *stack);

/* The process that this is about, made if it is not known: it has ended, or exec has replaced its
 * program.  For memory_forget(). */
struct mem_process *memory_process(struct memory *memory, const struct process_event *event);

/* "device", "managed", …; NULL for CUDA_MEM_NONE. */
const char *memory_name(unsigned char kind);

/* Forgets a process that ended, with all that it held, and frees it. */
void memory_forget(struct mem_process *process);

#endif
