/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What a process holds, and held at most, by kind of memory, device and call stack.  The functions are for
 * mem_process.c and memory.c. */
#ifndef MEM_SITE_H
#define MEM_SITE_H
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

/* What is held on one device. */
struct mem_device {
	unsigned int device;
	struct mem_sum held, tensors;	/* as in struct mem_sites */
	UT_hash_handle hh;
};

struct mem_sites {
	struct quota *quota;		/* whose bytes the groups take, for user and pid */
	unsigned user;
	int pid;
	struct mem_sum held;		/* of all but CUDA_TENSOR, which is a part of others */
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

/* Returns the group of this stack, kind and device; NULL if there are too many. */
struct mem_site *mem_site_of(struct mem_sites *groups, const struct stack *stack,
			       unsigned char memory, unsigned int device);

/* Returns the sum of a device, or of its tensors; NULL if there was never anything on it. */
const struct mem_sum *mem_device_sum(const struct mem_sites *groups, unsigned int number, bool tensors);

/* Add and remove an allocation of the group, in the sums of its kind, device and process too. */
void mem_site_add(struct mem_sites *groups, struct mem_site *group, unsigned long long size);
void mem_site_drop(struct mem_sites *groups, struct mem_site *group, unsigned long long size);

/* Remembers all sums. */
void mem_sites_mark(struct mem_sites *groups, enum mem_snapshot mark);

/* Frees groups that hold nothing and did not at a mark, if there are enough of them; or all groups,
 * when there is no allocation any more. */
void mem_sites_drop_idle(struct mem_sites *groups);
void mem_sites_free(struct mem_sites *groups);

#endif
