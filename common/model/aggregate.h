/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Groups of calls since the last report, from what bpf/tally.bpf.h counts or sends. */
#ifndef GROUPS_H
#define GROUPS_H
#include <stdbool.h>
#include <stddef.h>
#include "base/hash.h"
#include "abi/aggregate.h"

struct bpf_map;
struct bpf_object;
struct stack;

struct group {
	struct group_key { const struct stack *stack; unsigned int pid, what, part; } key;
	unsigned long long count, failed;
	unsigned long long sum, ns, least, most;	/* least and most of what sum adds up */
	unsigned long long slots[TALLY_SLOTS];
	char comm[16];		/* of one of its threads */
	UT_hash_handle hh;
};

/* Between open and load: leaves out what is not needed to count with or without stacks. */
void groups_prepare(struct bpf_object *obj, bool stacks);

/* Begins a new epoch, and returns the old one when no probe counts in it any more. */
unsigned int groups_flip(volatile unsigned int *epoch);

/* Calls fn with each key of a map that begins with this epoch, and the key's value (of a
 * per-CPU map, all of its values), and removes it. */
void groups_drain(struct bpf_map *map, unsigned int epoch,
		  void (*fn)(const void *key, const void *value));

/* Takes what the kernel counted in an epoch into the groups. */
void groups_collect(struct bpf_map *tallies, unsigned int epoch);

/* Takes a record in; one of a process that has gone is no call. */
void groups_record(const struct tally_record *r);

/* The group of this record for another part: to be added to with group_add(). */
struct group *group_of(const struct tally_record *r, unsigned int part);
void group_add(struct group *g, unsigned long long value, unsigned long long ns,
	       unsigned long long shown);

/* The groups of part 0, by process and what they are, or the largest sum first; *n says how
 * many.  Good until groups_clear(); the array is the caller's to free(). */
struct group **groups_sorted(bool by_sum, size_t *n);

/* The same group of another part, or NULL. */
const struct group *group_part(const struct group *g, unsigned int part);

void groups_clear(void);

#endif
