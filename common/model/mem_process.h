/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Allocations and mappings of a process.  All processes of a struct memory together
 * may have some 440,000, one user half of them; more are only counted, as ignored.  The functions
 * are for memory.c. */
#ifndef MODEL_MEM_PROCESS_H
#define MODEL_MEM_PROCESS_H
#include <stdbool.h>
#include "api/cuda_api.h"
#include "base/hash.h"
#include "base/quota.h"

struct stack;

/* Earlier reports that a sum can be compared with. */
enum mem_snapshot { MEM_LAST, MEM_FIRST, MEM_SNAPSHOTS };

struct mem_sum {
	unsigned long long bytes, count;	/* of allocations */
	unsigned long long peak;		/* the most bytes at any time */
	struct { unsigned long long bytes, count; } marks[MEM_SNAPSHOTS];	/* then: memory_mark() */
};

struct mem_site {
	struct {
		const struct stack *stack;	/* as shown; NULL: none */
		unsigned int memory;		/* enum cuda_memory */
		unsigned int device;		/* see abi/device.h */
	} key;
	struct mem_sum held;
	struct mem_device *on;			/* the device's sum */
	UT_hash_handle hh;
};

/* Limits on the memory that the driver takes for kernels, numbered as in CUlimit and cudaLimit. */
enum mem_limit { MEM_LIMIT_STACK, MEM_LIMIT_PRINTF, MEM_LIMIT_HEAP, MEM_LIMITS };

/* Memory held on one device. */
struct mem_device {
	unsigned int device;
	struct mem_sum held, tensors, code;	/* as in struct mem_sites */
	unsigned long long limits[MEM_LIMITS];	/* bytes, as passed */
	bool limited[MEM_LIMITS];	/* the program has set it */
	unsigned long long graphs;	/* bytes that one launch of a graph allocates and frees itself, the most of all graphs launched */
	UT_hash_handle hh;
};

struct mem_sites {
	struct quota *quota;		/* whose bytes the groups take, for user and pid */
	unsigned user;
	int pid;
	bool handles;			/* handles are held, too: each allocation counts as one byte */
	struct mem_sum held;		/* of all except CUDA_TENSOR, which is a part of others, and without handles from CUDA_CODE on */
	struct mem_sum kinds[CUDA_MEMORY_MAX];
	struct mem_site *all;		/* for HASH_ITER(hh, ...) */
	struct mem_site *last;		/* that was asked for, or NULL */
	struct mem_device *devices;	/* that it has used; for HASH_ITER(hh, ...) */
	bool changed;			/* the sums did, since a view drew them and cleared this */
	unsigned emptied;		/* groups that came to hold nothing since some were freed */
};

/* Bytes that something this large takes on the heap: with its place in a hash table. */
static inline size_t mem_cost(size_t size)
{
	return size + 32;
}

/* One allocation not freed yet. */
struct allocation {
	struct { unsigned long long ptr, space; } key;
	unsigned long long size, time, location;
	struct mem_site *group;	/* of its process */
	unsigned int tid, refs;		/* refs: handles returned and mappings made */
	unsigned short id;		/* enum cuda_id: the function that made it */
	bool unsure;			/* may be gone with a context or device */
	bool exported;			/* an IPC handle was made for it */
	UT_hash_handle hh;
};

/* A cuMemMap not undone yet: keeps the memory of its handle. */
struct vmm_mapping {
	unsigned long long ptr, size, handle;
	UT_hash_handle hh;
};

/* Memory of a process for which it has made an IPC handle, until it is freed. */
struct exported {
	unsigned long long handle;	/* its hash: struct memory_event */
	struct { unsigned long long ptr, pid; } key;
	unsigned long long size;
	unsigned user;
	UT_hash_handle hh, hh_key;
};

/* Allocations that were replaced at an address before the record of their free came: it is made at the return, when another
 * thread may have the address already. */
struct owed_frees {
	struct { unsigned long long ptr, space; } key;
	unsigned long long time;	/* of the last allocation that replaced one: a free of one of them began before */
	unsigned long long n;
	UT_hash_handle hh;
};

/* Which allocations without a size are kept: the probes choose among the others. */
struct memory_filter {
	bool any;		/* the probes leave out some */
	unsigned long long min;	/* bytes: what has no size is smaller than any but 0 */
	unsigned long long max;	/* bytes, of what graphs allocate; 0 = any */
	unsigned sample;	/* keep one in this many; 0 = all */
	unsigned long long devices;	/* bit n: on device n; 0 = on all */
};

/* The memory of all processes; starts as MEMORY_INIT, and must not move. */
struct memory {
	struct mem_process *processes;	/* that hold or held something; for HASH_ITER(hh, ...) */
	struct mem_process *last;	/* whose call came last: most come from the same again */
	struct quota quota;		/* in bytes */
	struct memory_filter filter;	/* set by the tool */
	bool handles;			/* set by the tool: see struct mem_sites */
	struct exported *exported, *exported_keys;	/* for those that open them: by handle, by key */
	struct process_table *table;	/* the session's; NULL: of none is known that it used CUDA before tracing began */
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
	struct owed_frees *owed;	/* at most OWED_FREES addresses, the oldest first */
	struct mem_sites groups;	/* the sums of what it holds */
	unsigned long long unknown;	/* frees of memory whose allocation was not seen */
	unsigned long long replaced;	/* allocations whose address came again without a free */
	unsigned long long unsure;	/* allocations marked unsure */
	unsigned long long ignored;	/* allocations and mappings not kept: too many */
	unsigned long long accounted;	/* account_is_due() was last true, ns */
	/* the devices (0) and contexts (1) it was seen to use: the first one, and whether there are
	 * others */
	unsigned long long first[2];
	bool several[2];
	UT_hash_handle hh;
};

/* Addresses share one space; handles have their own spaces, and tensors, which begin where other memory
 * does. */
enum space { SPACE_ADDRESS, SPACE_ARRAY, SPACE_VMM, SPACE_TENSOR, SPACE_CODE };	/* and one for each kind of handle after it */
enum space space_of(unsigned char memory);

/* Returns NULL if there is none. */
struct allocation *allocation_find(const struct mem_process *process, unsigned long long ptr,
				   enum space space);

/* Adds and counts an allocation; there must be none at this key, memory is an enum cuda_memory, and
 * device as in abi/device.h.  stack may be NULL.  Returns NULL if there are too many. */
struct allocation *allocation_add(struct mem_process *process, unsigned long long ptr,
				  unsigned char memory, unsigned int device, const struct stack *stack,
				  unsigned long long size);

/* Sets its size. */
void allocation_resize(struct mem_process *process, struct allocation *allocation, unsigned long long size);

/* The process has made an IPC handle of this hash for it: each call returns the same one. */
void allocation_export(struct mem_process *process, struct allocation *allocation, unsigned long long handle);

/* Returns what has this handle; NULL: unknown. */
struct exported *exported_of(const struct memory *memory, unsigned long long handle);

/* Removes and frees it. */
void allocation_drop(struct mem_process *process, struct allocation *allocation);

/* An allocation made at this time has replaced another, whose free was not seen: counts it. */
void allocation_replaced(struct mem_process *process, const struct allocation *old, unsigned long long time);

/* Return true if a free that began at this time was of an allocation that was replaced: it is not counted as such any more. */
bool free_was_owed(struct mem_process *process, unsigned long long ptr, enum space space, unsigned long long start);

/* Forgets all of them. */
void owed_frees_drop(struct mem_process *process);

/* The same for mappings. */
struct vmm_mapping *vmm_mapping_find(const struct mem_process *process, unsigned long long ptr);
struct vmm_mapping *vmm_mapping_add(struct mem_process *process, unsigned long long ptr);
void vmm_mapping_drop(struct mem_process *process, struct vmm_mapping *mapping);

/* Return true if the group is among what the process holds: tensors are parts of other memory, and handles are none of it. */
bool mem_site_is_held(const struct mem_sites *groups, const struct mem_site *group);

/* Returns the sum of a device, or of its tensors; NULL if there was never anything on it. */
const struct mem_sum *mem_device_sum(const struct mem_sites *groups, unsigned int number, bool tensors);

/* The program has set this limit of a device, which may be none of enum mem_limit: ignored; or has reset the device. */
void mem_device_limit(struct mem_sites *groups, unsigned int number, unsigned long long limit, unsigned long long bytes);
void mem_device_unlimit(struct mem_sites *groups, unsigned int number);

/* A graph was launched there whose nodes allocate and free so many bytes. */
void mem_device_replayed(struct mem_sites *groups, unsigned int number, unsigned long long bytes);

/* Remembers all sums. */
void mem_sites_mark(struct mem_sites *groups, enum mem_snapshot mark);

/* Frees groups that hold nothing and did not at a mark, if there are enough of them; or all groups,
 * when there is no allocation any more. */
void mem_sites_free(struct mem_sites *groups);

#endif
