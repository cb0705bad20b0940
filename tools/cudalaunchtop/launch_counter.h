/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What launches.c keeps, and what cudalaunchtop's probes have counted of it; for launches.c,
 * launch_rows.c and launch_probes.c alone. */
#ifndef LAUNCH_COUNTER_H
#define LAUNCH_COUNTER_H
#include <stdbool.h>
#include "abi/cudalaunchtop.h"
#include "base/hash.h"

struct bpf_map;
struct kernel;
struct kernels;
struct stack;

/* One execution of a program in a process. */
struct program {
	unsigned long long id;
	int pid, children;
	char comm[16];
	bool ended, counted;	/* counted: its last launches are */
	bool driven;		/* launches of its were seen in the driver */
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
	struct launch_count quick;	/* in the array, by the last counters_read() */
	struct launch_count seen;	/* by the last counter_pull() */
	unsigned long long pending, pending_failed;	/* in the interval that has not ended */
	unsigned long long launches, failed, total, total_failed;
	int looked;
	/* launch_probes.c's: total when it looked; how often it has looked since that has changed;
	 * the runtime does not launch it */
	unsigned long long before;
	int idle;
	bool direct;
	struct counter *next;		/* of the former ones */
	UT_hash_handle hh;
};

/* Those of the map's keys, for hh.next, and the former ones, for next. */
extern struct counter *counters, *former_counters;

/* What the probes count in: a hash map, and an array for the first keys. */
void counters_init(const struct bpf_map *counts, const struct bpf_map *quick);

/* The counter of a key; NULL if there is none. */
struct counter *counter_find(const struct launch_key *key);
struct counter *counter_new(const struct launch_key *key, struct program *program);

/* Calls fn with each key of the hash map: every key is there. */
void counters_each_key(void (*fn)(const struct launch_key *key));

/* Reads the array, for counter_pull() of whichever counter. */
void counters_read(void);

/* Adds what was counted since the last time. */
void counter_pull(struct counter *c);

/* All that counter_pull() has added of launches. */
unsigned long long counters_total(void);

/* Its program has ended and it was pulled for the last time: the map's room is free. */
void counters_free_ended(void);

/* The kernel that it counts; NULL if that is not known, and of a graph. */
const struct kernel *counter_kernel(const struct counter *c);

/* What is shown where the kernel is not known: what was passed to the runtime, where that is
 * known, else to the driver. */
unsigned long long counter_func(const struct counter *c);

#endif
