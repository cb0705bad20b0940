/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Allocations that are not freed, in groups. */
#ifndef CUDALEAK_LEAK_H
#define CUDALEAK_LEAK_H
#include "model/memory.h"

/* The property that the allocations of a group share, besides their process. */
enum leak_by { LEAK_BY_STACK, LEAK_BY_KIND, LEAK_BY_DEVICE, LEAK_BY_PROCESS, LEAK_BY_MAX };

#define LEAK_SORT_WORDS "held|peak|growth|count|age|device"
enum leak_sort { LEAK_SORT_HELD, LEAK_SORT_PEAK, LEAK_SORT_GROWTH, LEAK_SORT_COUNT, LEAK_SORT_AGE,
		 LEAK_SORT_DEVICE };

struct leak_options {
	long older_ns;		/* only allocations at least this old; 0 = all */
	bool each;		/* one group per allocation */
	enum leak_by by;	/* a group: a stack, kind and device; a kind; a device; or the process */
	int sort;		/* enum leak_sort */
	bool reverse;		/* the least first */
	enum mem_snapshot mark;	/* growth is since this report */
	unsigned long long now;	/* CLOCK_MONOTONIC, ns: the time that ages are relative to */
	bool tensors;		/* only these, not the memory that contains them */
	long sample;		/* scale bytes and counts by this factor */
};

struct leak_group {
	const struct mem_process *process;
	const struct stack *stack;	/* LEAK_BY_STACK */
	unsigned long long bytes, count, oldest;	/* oldest: CLOCK_MONOTONIC, ns */
	unsigned long long peak;	/* bytes; peak and growth include allocations of any age; 0 with each */
	long long growth, growth_count;	/* bytes and allocations since the mark */
	unsigned long long ptr;	/* ptr, tid and id are of one of its allocations */
	unsigned int tid;
	unsigned int device;	/* see abi/device.h; DEVICE_NONE: also if several */
	unsigned short id;
	unsigned char memory;	/* CUDA_MEM_NONE: several kinds */
};

/* Returns the sum over the process's memory, or its tensors, as the options choose. */
const struct mem_sum *leak_sum(const struct mem_process *process, const struct leak_options *options);

/* Returns the *n groups of one process, sorted.  The caller frees the array, which is valid until
 * the next record. */
struct leak_group *leak_groups(const struct mem_process *process, const struct leak_options *options,
			       size_t *n);

/* Sorts groups of one or several processes. */
void leak_sort(struct leak_group *groups, size_t n, const struct leak_options *options);

#endif
