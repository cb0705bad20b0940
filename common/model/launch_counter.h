/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Counts of bpf/lib/launch_counts.bpf.h: a counter per key, and the program it belongs to. */
#ifndef MODEL_LAUNCH_COUNTER_H
#define MODEL_LAUNCH_COUNTER_H
#include <stdbool.h>
#include <sys/queue.h>
#include "abi/launch.h"
#include "abi/shares.h"
#include "base/hash.h"
#include "base/quota.h"
#include "kernels/executions.h"
#include "model/graphs.h"

struct bpf_map;
struct stack;

struct launch_tally {
	unsigned long long launches, failed, impossible;
	unsigned long long replayed;	/* those of launches that graphs have made */
};

static inline void tally_add(struct launch_tally *to, const struct launch_tally *from)
{
	to->launches += from->launches;
	to->failed += from->failed;
	to->impossible += from->impossible;
	to->replayed += from->replayed;
}

LIST_HEAD(counter_list, counter);
TAILQ_HEAD(counter_queue, counter);

struct launch_execution {
	struct execution program;
	char comm[16];
	bool over, counted;	/* counted: including its last launches */
	bool driven;		/* launches were seen in the driver */
	struct counter_list counters;	/* its own, by in_program */
	unsigned ncounters;
	struct graphs graphs;
	unsigned long long steps;	/* what its records are still worth: see launches.c */
};

/* The counters of a program at one address, except those that are retiring. */
struct counter_address {
	struct { unsigned long long program, func; } key;
	unsigned int newest;		/* their newest generation */
	struct counter_list counters;	/* by in_address; never empty */
	UT_hash_handle hh;
};

/* Counts of one key of the probes' map.  Once its kernel is replaced or unloaded, or its program has
 * ended, it is retiring: its kernel is fixed, and soon its room in the probes' maps is given back and its
 * counts go to a retired counter. */
struct counter {
	struct launch_key key;	/* of a retired one: see retired_of() */
	struct launch_execution *program;
	const struct kernel *kernel;	/* if fixed, NULL: unknown; else it is the one at its address */
	const struct stack *stack;
	struct launch_count seen;	/* as of the last counter_pull() */
	struct launch_tally pending, last, total;	/* in this interval, the last one, and ever */
	struct graph_now graph;		/* what a launch of a graph runs */
	bool fixed, retired;
	unsigned long long shown;	/* if fixed: counter_func() */
	/* for cudalaunchtop's launch_probes.c: total at its last check; number of checks since it changed; the
	 * runtime does not launch it */
	bool direct;
	int idle;
	unsigned long long before;
	unsigned long long due;		/* when a retiring one may go, ns */
	struct counter_address *address;	/* NULL: it is retiring, or a retired one */
	LIST_ENTRY(counter) in_address, in_program;
	TAILQ_ENTRY(counter) in_retiring;
	UT_hash_handle hh;
};

struct counters {
	/* the counters of the map's keys, and the retired ones, both linked by hh.next */
	struct counter *all, *retired;
	struct counter_address *addresses;
	struct counter_queue retiring;
	unsigned long long made;	/* counters of keys so far */
	bool by_graph;			/* retired counters of different graphs are not joined: no stacks are counted then */
	unsigned long long total, impossible;	/* launches of kernels, and of other graphs, that counter_pull() has added */
	struct quota quota;		/* bytes of counters and of their rows */
	/* the probes' hash map, and their array for the first keys */
	const struct bpf_map *map;
	unsigned lanes;
	const struct bpf_map *array;
	struct launch_slot *quick;	/* the array's elements */
	size_t nquick;
	struct shares *shares;
};

/* counts and quick are the probes' maps, shares what users hold of counts; they must outlive *cs. */
void counters_init(struct counters *cs, const struct bpf_map *counts, const struct bpf_map *quick,
		   struct shares *shares);

/* The retired ones must be freed before. */
void counters_free(struct counters *cs);

/* The counter of a key, or NULL. */
struct counter *counter_find(const struct counters *cs, const struct launch_key *key);

/* Returns a new counter; NULL if the user of the program has too many. */
struct counter *counter_new(struct counters *cs, const struct launch_key *key,
			    struct launch_execution *program);

/* Calls fn with each key of the hash map, which has every key; fn may remove it. */
void counters_each_key(const struct counters *cs,
		       void (*fn)(void *ctx, const struct launch_key *key), void *ctx);

/* Reads what the probes count for a key; false if they do not. */
bool counters_read(const struct counters *cs, const struct launch_key *key, struct launch_count *sum);

/* Adds what was counted since the last call. */
void counter_pull(struct counters *cs, struct counter *c);

/* Removes a key from the probes' maps, with what is counted.  share is that of its struct
 * launch_count. */
void counters_remove_key(struct counters *cs, const struct launch_key *key, unsigned int share);

/* The kernel it counts; NULL if unknown, and for a graph. */
const struct kernel *counter_kernel(const struct counter *c);

/* Address shown for an unknown kernel: the one passed to the runtime if known, else to the
 * driver. */
unsigned long long counter_func(const struct counter *c);

/* A counter's bytes on the heap, with its row and line when they are shown. */
enum { FORMER_COST = sizeof(struct counter) + 450,
       COUNTER_COST = FORMER_COST + sizeof(struct counter_address) + 32 };

/* Call for a new counter: those of older generations at its address are over; or itself, if it is older
 * or its program has ended. */
void counter_begins(struct counters *cs, struct counter *c);

/* The counter's launches are over: fixes its kernel as the one that is known now.  Its key is removed
 * when a thread that is just counting has done so, or immediately if its program has ended. */
void counter_leave(struct counters *cs, struct counter *c);

/* The same for all counters at an address, but those of this generation, if not NULL. */
void counters_leave_at(struct counters *cs, unsigned long long program, unsigned long long func,
		       const unsigned int *stays);

/* Moves what leaves and is due to retired counters, for some milliseconds at most unless all is set: then
 * all of programs that have ended. */
void counters_give_back(struct counters *cs, bool all);

/* The counts so far belong to this kernel: moves them to a retired counter and starts
 * over; does nothing if there are too many. */
void counter_split(struct counters *cs, struct counter *c, const struct kernel *kernel);

/* Frees the retired counters of programs that are counted, and if there are many others, those that did
 * not change in the last interval; or all. */
void counters_drop_retired(struct counters *cs, bool all);

#endif
