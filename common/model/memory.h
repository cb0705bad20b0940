/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The memory that traced programs hold, tracked from the records of bpf/lib/memory.bpf.h. */
#ifndef MODEL_MEMORY_H
#define MODEL_MEMORY_H
#include <stddef.h>
#include "api/cuda_fn.h"
#include "abi/memory_event.h"
#include "model/mem_process.h"

struct graph_content;
struct inflight_call;
struct stack;

/* The classes of functions that these records come from. */
#define MEMORY_CLASSES (1 << CUDA_ALLOC | 1 << CUDA_FREE | 1 << CUDA_MAP | 1 << CUDA_UNMAP | \
			1 << CUDA_RESET)

/* … and those of what an account has besides (model/account.h). */
#define ACCOUNT_CLASSES (CUDA_IMAGES | 1 << CUDA_LIMIT | 1 << CUDA_CTX)

/* … and those of handles. */
#define HANDLE_CLASSES (CUDA_HANDLES | CUDA_DEVICE_CLASSES)

/* Effect of a record. */
struct memory_effect {
	struct mem_process *process;	/* NULL: there is no room for it */
	unsigned char memory;		/* allocated or freed; CUDA_MEM_NONE = not known */
	unsigned long long size;	/* bytes; ~0 = not known */
	unsigned int device;		/* of the memory: see abi/device.h */
	bool left_out;			/* an allocation that the filter does not keep */
};

/* Return true if the record is one of a call: records that a program has written itself are untrusted. */
bool memory_event_is_right(const void *record, size_t size);

/* Applies the record of a call; failed calls change nothing.  The stack must outlive what the
 * record allocates; it may be NULL. */
struct memory_effect memory_apply(struct memory *memory, const struct memory_event *event,
				  const struct stack *stack);

/* A launch of a CUDA graph. */
struct memory_replay {
	int pid;
	const char *comm;		/* 16 bytes */
	unsigned long long time, start;	/* return and entry of the call: CLOCK_MONOTONIC, ns */
	unsigned int device;		/* see abi/device.h */
	const struct graph_content *content;	/* what the graph does */
	const struct stack *made;	/* where it was made; NULL: not known */
	/* results */
	struct mem_process *process;	/* NULL: there is no room for it */
	unsigned long long allocs, frees;
	unsigned long long temporary;	/* bytes that its nodes both allocate and free */
};

/* Memory that nodes of the graph allocate is held until it is freed by another node or a call.  Memory that the graph held before
 * stays: a launch frees it before it allocates it again (cudaGraphInstantiateFlagAutoFreeOnLaunch), or would have failed. */
void memory_replay(struct memory *memory, struct memory_replay *replay);

/* Returns the device that memory_apply() will report for a call in flight, as far as is known. */
unsigned int memory_call_device(const struct memory *memory, const struct inflight_call *call);

/* Returns the process of this event, NULL if it is not known: it has ended, or exec has replaced its
 * program.  Its name stays the one of its calls.  For memory_forget(). */
struct mem_process *memory_process(const struct memory *memory, const struct process_event *event);

/* "device", "managed", …, "stream"; NULL for CUDA_MEM_NONE. */
const char *memory_name(unsigned char kind);

/* Returns what follows such a name in a text: " handle" after that of a library, else "". */
const char *memory_name_more(const char *name);

/* Removes and frees a process that ended, with all that it held; NULL is ignored. */
void memory_forget(struct mem_process *process);

/* The same of the process of an event (proc/process_table.h); memory is a struct memory *. */
void memory_ended(void *memory, const struct process_event *event);

/* Remembers what is held now, for a comparison later. */
void memory_mark(struct memory *memory, enum mem_snapshot mark);

/* Removes all of them. */
void memory_free(struct memory *memory);

#endif
