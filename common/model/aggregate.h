/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Groups of calls since the last report, from what bpf/lib/aggregate.bpf.h counts or sends. */
#ifndef MODEL_AGGREGATE_H
#define MODEL_AGGREGATE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/hash.h"
#include "abi/aggregate.h"

struct bpf_map;
struct bpf_object;
struct stack;
struct syms;

/* A group. */
struct aggregate {
	struct aggregate_group { const struct stack *stack; unsigned int pid, key, series; } key;
	unsigned long long count, failed;
	unsigned long long sum, ns, least, most;	/* least and most of what sum adds up */
	unsigned long long slots[AGGREGATE_BINS];
	char comm[16];		/* of one of its threads */
	UT_hash_handle hh;
};

/* All groups of one BPF object; begins as zeros. */
struct aggregates {
	struct syms *syms;	/* NULL: no stacks */
	struct aggregate *groups;
	struct bpf_map *slots;	/* of struct aggregate_slot; NULL: calls are sent, not counted */
	struct aggregate_slot *elements;	/* of slots, mapped when they are read first */
};

/* Between open and load: leaves out what is not needed to count with stacks or, if syms is NULL,
 * without.  syms is the caller's, and must live as long. */
void aggregate_prepare(struct aggregates *aggregates, struct bpf_object *obj, struct syms *syms);

/* Begins a new epoch, and returns the old one when no probe counts in it any more. */
unsigned int aggregate_flip(volatile unsigned int *epoch);

/* Calls fn with each key of a map that begins with this epoch, and the key's value (of a
 * per-CPU map, all of its values), and removes it. */
typedef void aggregate_drain_fn(void *ctx, const void *key, const void *value);
void aggregate_drain(struct bpf_map *map, unsigned int epoch, aggregate_drain_fn *fn, void *ctx);

/* Takes what the kernel counted in an epoch into the groups: from the slots, and from the rest, the
 * map "aggregates". */
void aggregate_collect(struct aggregates *aggregates, struct bpf_map *rest, unsigned int epoch);

/* Takes a record in; one of a process that has gone is no call. */
void aggregate_record(struct aggregates *aggregates, const struct aggregate_record *r);

/* The group of this record for another series: to be added to with aggregate_add_value(). */
struct aggregate *aggregate_of(struct aggregates *aggregates, const struct aggregate_record *r,
			       unsigned int series);
void aggregate_add_value(struct aggregate *group, unsigned long long value, unsigned long long ns,
			 unsigned long long shown);

/* The groups of series 0, by process and what they are, or the largest sum first; *n says how
 * many.  Good until aggregate_clear(); the array is the caller's to free(). */
struct aggregate **aggregate_sorted(const struct aggregates *aggregates, bool by_sum, size_t *n);

/* The same group of another series, or NULL. */
const struct aggregate *aggregate_series(const struct aggregates *aggregates,
					 const struct aggregate *group, unsigned int series);

/* Frees the groups. */
void aggregate_clear(struct aggregates *aggregates);

#endif
