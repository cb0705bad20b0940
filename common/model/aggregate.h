/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Groups of calls since the last report, as bpf/lib/aggregate_counts.bpf.h counts and bpf/lib/aggregate.bpf.h sends them. */
#ifndef MODEL_AGGREGATE_H
#define MODEL_AGGREGATE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/hash.h"
#include "base/quota.h"
#include "abi/aggregate_group.h"

struct bpf_map;
struct bpf_object;
struct process_table;
struct stack;
struct syms;

/* One group. */
struct aggregate {
	struct aggregate_group {
		const struct stack *stack;
		unsigned int pid, key, series;
		unsigned short device, peer;	/* as in struct aggregate_key */
		unsigned long long stream;	/* likewise */
	} key;
	unsigned long long count, failed;
	unsigned long long replayed;	/* of count: done by launches of graphs */
	unsigned long long sum, ns, least, most;	/* least and most: of the values in hist */
	struct hist hist;
	char comm[16];		/* of one of its threads */
	unsigned user;		/* who is charged for it, if charged */
	bool charged;
	UT_hash_handle hh;
};

/* All groups of one BPF object; starts zeroed. */
struct aggregates {
	bool other_records;	/* set by the tool: the programs also send records that are no calls */
	bool second;		/* likewise: calls have a second value, which is also a group's */
	struct syms *syms;	/* NULL: no stacks */
	struct aggregate *groups;
	struct bpf_map *slots;	/* struct aggregate_slot; NULL: calls are sent, not counted */
	struct aggregate_slot *elements;	/* of slots, mapped on the first read */
	struct bpf_map *shares;		/* what the probes count by user: two struct shares */
	struct process_table *processes;	/* the session's */
	struct quota quota;		/* bytes of groups with stacks; the others' number is limited
					 * in the kernel */
};

/* Call between open and load: leaves out what is not needed to count with stacks or, if syms is
 * NULL, without.  The caller owns syms, which must outlive the aggregates. */
void aggregate_prepare(struct aggregates *aggregates, struct bpf_object *obj, struct syms *syms,
		       struct process_table *processes);

/* Starts a new epoch; returns the old one once no probe counts in it any more. */
unsigned int aggregate_flip(volatile unsigned int *epoch);

/* Calls fn for each key of a map that starts with this epoch, with the key's value (all of them
 * for a per-CPU map), and deletes the key. */
typedef void aggregate_drain_fn(void *ctx, const void *key, const void *value);
void aggregate_drain(struct bpf_map *map, unsigned int epoch, aggregate_drain_fn *fn, void *ctx);

/* Adds what the kernel counted in an epoch to the groups: from the slots, and the rest from the
 * map "aggregates".  Then joins groups whose stacks look the same. */
void aggregate_collect(struct aggregates *aggregates, struct bpf_map *rest, unsigned int epoch);

/* Return true if the kernel has counted so many groups in the epoch that they should be collected, before one is not counted. */
bool aggregate_is_crowded(const struct aggregates *aggregates, unsigned int epoch);

/* Adds a call from its record, unless there are too many groups; its second value, too.  Returns false if it is none:
 * records that a program has written itself are untrusted. */
bool aggregate_record(struct aggregates *aggregates, const void *record, size_t size);

/* Returns the group of this record in another series, for aggregate_add_value(); NULL: too many. */
struct aggregate *aggregate_of(struct aggregates *aggregates, const struct aggregate_record *r,
			       unsigned int series);
/* Adds a call to the group; NULL is ignored. */
void aggregate_add_value(struct aggregate *group, unsigned long long value, unsigned long long ns,
			 unsigned long long shown);

/* Adds calls by launches of graphs, which took no known time. */
struct aggregate_replays {
	struct aggregate_key key;
	const struct stack *stack;
	int pid;		/* who is charged for it */
	const char *comm;
	unsigned long long value, n;	/* n calls of this value each */
};
void aggregate_add_replays(struct aggregates *aggregates, const struct aggregate_replays *replays);

/* Returns the *n groups of series 0, sorted by process and key, or by sum, largest first.  The
 * groups are valid until aggregate_clear(); the caller frees the array. */
struct aggregate **aggregate_sorted(const struct aggregates *aggregates, bool by_sum, size_t *n);

/* Returns the same group in another series, or NULL. */
const struct aggregate *aggregate_series(const struct aggregates *aggregates,
					 const struct aggregate *group, unsigned int series);

/* Frees the groups. */
void aggregate_clear(struct aggregates *aggregates);

/* Call last: frees the groups, and what was charged for them. */
void aggregate_free(struct aggregates *aggregates);

#endif
