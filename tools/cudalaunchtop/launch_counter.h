/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What cudalaunchtop's probes have counted: a counter per key, and the program it belongs to. */
#ifndef LAUNCH_COUNTER_H
#define LAUNCH_COUNTER_H
#include <stdbool.h>
#include "abi/cudalaunchtop.h"
#include "abi/shares.h"
#include "base/hash.h"
#include "base/quota.h"
#include "sym/programs.h"

struct bpf_map;
struct stack;

struct launch_program {
	struct program program;
	char comm[16];
	bool over, counted;	/* counted: including its last launches */
	bool driven;		/* launches were seen in the driver */
	struct counter *counters;	/* its own, linked by sibling */
	unsigned ncounters;
	unsigned long long steps;	/* what its records are still worth: see launches.c */
};

/* What one key of the probes' map counts, or counted until its address became another kernel's. */
struct counter {
	struct launch_key key;
	struct launch_program *program;
	const struct kernel *kernel;	/* NULL: the one its address stands for */
	const struct stack *stack;
	struct launch_count seen;	/* as of the last counter_pull() */
	unsigned long long pending, pending_failed;	/* in the current interval */
	unsigned long long launches, failed, total, total_failed;
	/* for launch_probes.c: total at its last check; number of checks since it changed; the
	 * runtime does not launch it */
	unsigned long long before;
	int idle;
	bool direct;
	struct counter *next;		/* among the former ones */
	struct counter *was;		/* the former ones with this key, latest first */
	struct counter *sibling;
	UT_hash_handle hh;
};

struct counters {
	/* the counters of the map's keys, linked by hh.next, and the former ones, linked by next */
	struct counter *all, *former;
	unsigned long long total;	/* launches that counter_pull() has added */
	struct quota quota;		/* bytes of counters and of their rows */
	/* the probes' hash map, and their array for the first keys */
	int map, cpus;
	struct launch_count *values;	/* one per CPU */
	const struct bpf_map *array;
	struct launch_slot *quick;	/* the array's elements */
	size_t nquick;
	struct shares *shares;
};

/* counts and quick are the probes' maps, shares what users hold of counts; they must outlive *cs. */
void counters_init(struct counters *cs, const struct bpf_map *counts, const struct bpf_map *quick,
		   struct shares *shares);
void counters_free(struct counters *cs);

/* The counter of a key, or NULL. */
struct counter *counter_find(const struct counters *cs, const struct launch_key *key);

/* Returns a new counter; NULL if the user of the program has too many. */
struct counter *counter_new(struct counters *cs, const struct launch_key *key,
			    struct launch_program *program);

/* Calls fn with each key of the hash map, which has every key. */
void counters_each_key(const struct counters *cs,
		       void (*fn)(void *ctx, const struct launch_key *key), void *ctx);

/* Adds what was counted since the last call. */
void counter_pull(struct counters *cs, struct counter *c);

/* What the counter has counted so far belongs to this kernel: moves it to a former counter and
 * starts over; does nothing if there are too many. */
void counter_split(struct counters *cs, struct counter *c, const struct kernel *kernel);

/* Frees the map entries of programs that ended and were pulled for the last time … */
void counters_clear_ended(struct counters *cs);

/* … and the counters of programs that are counted. */
void counters_drop_ended(struct counters *cs);

/* The kernel it counts; NULL if unknown, and for a graph. */
const struct kernel *counter_kernel(const struct counter *c);

/* What to show for an unknown kernel: what was passed to the runtime if known, else to the
 * driver. */
unsigned long long counter_func(const struct counter *c);

#endif
