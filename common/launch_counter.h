/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What launches.c keeps; for launches.c and launch_rows.c alone. */
#ifndef LAUNCH_COUNTER_H
#define LAUNCH_COUNTER_H
#include <stdbool.h>
#include "cudalaunchtop.h"
#include "hash.h"

struct kernel;
struct kernels;
struct stack;

/* One execution of a program in a process. */
struct program {
	unsigned long long id;
	int pid, children;
	char comm[16];
	bool ended, counted;	/* counted: its last launches are */
	struct program *parent;	/* it was forked from, or NULL */
	struct kernels *kernels;
	UT_hash_handle hh;
};

/* What one key of the probes' map counts, or did until its address became another kernel's. */
struct counter {
	struct launch_key key;
	struct program *program;
	const struct kernel *kernel;	/* NULL: whatever its address stands for */
	const struct stack *stack;
	struct launch_count seen;	/* of the map */
	unsigned long long pending, pending_failed;	/* in the interval that has not ended */
	unsigned long long launches, failed, total, total_failed;
	int looked;
	struct counter *next;		/* of the former ones */
	UT_hash_handle hh;
};

/* Those of the map's keys, for hh.next, and the former ones, for next. */
extern struct counter *counters, *former_counters;

/* The kernel that it counts; NULL if that is not known, and of a graph. */
const struct kernel *counter_kernel(const struct counter *c);

#endif
