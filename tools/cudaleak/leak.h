/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What is allocated and not freed, put together by process, kind of memory and call stack. */
#ifndef LEAK_H
#define LEAK_H
#include "model/memory.h"

struct leak_options {
	long older_ms;		/* only what is at least so old; 0 = all */
	bool each;		/* each allocation is a group of its own */
	unsigned long long now;	/* CLOCK_MONOTONIC, ns: ages are up to this */
	long sample;		/* what is held stands for so many times as much */
};

struct leak_group {
	const struct mem_process *process;
	const struct stack *stack;
	unsigned long long bytes, count, oldest;	/* oldest: CLOCK_MONOTONIC, ns */
	unsigned long long ptr;	/* these three of one of its allocations */
	unsigned int tid;
	unsigned short id;
	unsigned char memory;
};

/* The groups of one process, the largest first; *n says how many.  The array is the caller's to
 * free(), and good until the next record. */
struct leak_group *leak_groups(const struct mem_process *process, const struct leak_options *options,
			       size_t *n);

#endif
