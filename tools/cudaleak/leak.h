/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Allocations that are not freed, grouped by process, kind of memory and call stack. */
#ifndef LEAK_H
#define LEAK_H
#include "model/memory.h"

struct leak_options {
	long older_ms;		/* only allocations at least this old; 0 = all */
	bool each;		/* one group per allocation */
	unsigned long long now;	/* CLOCK_MONOTONIC, ns: the time that ages are relative to */
	long sample;		/* scale what is held by this factor */
};

struct leak_group {
	const struct mem_process *process;
	const struct stack *stack;
	unsigned long long bytes, count, oldest;	/* oldest: CLOCK_MONOTONIC, ns */
	unsigned long long ptr;	/* ptr, tid and id are of one of its allocations */
	unsigned int tid;
	unsigned int device;	/* see abi/device.h */
	unsigned short id;
	unsigned char memory;
};

/* The groups of one process, largest first; sets *n.  The caller frees the array, which is valid
 * until the next record. */
struct leak_group *leak_groups(const struct mem_process *process, const struct leak_options *options,
			       size_t *n);

#endif
