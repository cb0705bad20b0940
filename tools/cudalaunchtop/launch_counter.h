/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What cudalaunchtop's probes have counted: a counter for each key, and the program it is of. */
#ifndef LAUNCH_COUNTER_H
#define LAUNCH_COUNTER_H
#include <stdbool.h>
#include "abi/cudalaunchtop.h"
#include "base/hash.h"
#include "sym/programs.h"

struct bpf_map;
struct stack;

struct launch_program {
	struct program program;
	char comm[16];
	bool over, counted;	/* counted: its last launches are */
	bool driven;		/* launches of its were seen in the driver */
};

/* What one key of the probes' map counts, or did until its address became another kernel's. */
struct counter {
	struct launch_key key;
	struct launch_program *program;
	const struct kernel *kernel;	/* NULL: whatever its address stands for */
	const struct stack *stack;
	struct launch_count quick;	/* in the array, by the last counters_read() */
	struct launch_count seen;	/* by the last counter_pull() */
	unsigned long long pending, pending_failed;	/* in the interval that has not ended */
	unsigned long long launches, failed, total, total_failed;
	/* launch_probes.c's: total when it looked; how often it has looked since that has changed;
	 * the runtime does not launch it */
	unsigned long long before;
	int idle;
	bool direct;
	struct counter *next;		/* of the former ones */
	UT_hash_handle hh;
};

struct counters {
	/* those of the map's keys, for hh.next, and the former ones, for next */
	struct counter *all, *former;
	unsigned long long total;	/* all that counter_pull() has added of launches */
	/* the probes' hash map, and their array for the first keys */
	int map, cpus;
	struct launch_count *values;	/* of each processor */
	const struct bpf_map *array;
	struct launch_slot *quick;	/* its elements */
	size_t nquick;
};

/* counts and quick: the probes' maps, which must live as long. */
void counters_init(struct counters *cs, const struct bpf_map *counts, const struct bpf_map *quick);
void counters_free(struct counters *cs);

/* The counter of a key; NULL if there is none. */
struct counter *counter_find(const struct counters *cs, const struct launch_key *key);
struct counter *counter_new(struct counters *cs, const struct launch_key *key,
			    struct launch_program *program);

/* Calls fn with each key of the hash map: every key is there. */
void counters_each_key(const struct counters *cs,
		       void (*fn)(void *ctx, const struct launch_key *key), void *ctx);

/* Reads the array, for counter_pull() of whichever counter. */
void counters_read(struct counters *cs);

/* Adds what was counted since the last time. */
void counter_pull(struct counters *cs, struct counter *c);

/* What a counter has counted until now was of this kernel: it becomes a former one, and the
 * counter begins anew. */
void counter_split(struct counters *cs, struct counter *c, const struct kernel *kernel);

/* Frees the map's room of programs that are over and were pulled for the last time … */
void counters_clear_ended(struct counters *cs);

/* … and the counters whose program is counted. */
void counters_drop_ended(struct counters *cs);

/* The kernel that it counts; NULL if that is not known, and of a graph. */
const struct kernel *counter_kernel(const struct counter *c);

/* What is shown where the kernel is not known: what was passed to the runtime, where that is
 * known, else to the driver. */
unsigned long long counter_func(const struct counter *c);

#endif
