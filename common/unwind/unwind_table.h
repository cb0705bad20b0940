/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The rules that the BPF programs unwind by: see abi/stack_unwind.h.  Private to common/unwind. */
#ifndef UNWIND_UNWIND_TABLE_H
#define UNWIND_UNWIND_TABLE_H
#include <stdbool.h>
#include "abi/stack_unwind.h"
#include "base/hash.h"
#include "base/quota.h"

struct bpf_map;
struct bpf_object;

/* A process that has rules. */
struct unwind_owner {
	int pid;
	unsigned user;
	struct unwind_process is;	/* as in the map; owner: see unwind_rule(), 0 if it has no rules */
	unsigned long rules;
	UT_hash_handle hh;
};

/* Owner and address of the rule in a slot; NULL: no rule. */
struct unwind_holder {
	struct unwind_owner *owner;
	unsigned long long pc;
};

struct unwind_table {
	const struct bpf_map *map;
	struct unwind_set *sets;
	struct unwind_holder *holders;	/* of each slot */
	const struct bpf_map *processes;	/* the map of the processes */
	struct unwind_owner *owners;
	unsigned numbers;	/* given so far */
	struct quota quota;	/* slots */
};

/* Opens the maps of bpf/lib/unwind.bpf.h; false with errno set if that fails. */
bool unwind_table_open(struct unwind_table *t, const struct bpf_object *obj);
void unwind_table_close(struct unwind_table *t);

/* Sets a process's rule, whose owner is left 0, unless its user has too many.  Without maps, in a table
 * that starts zeroed, nothing happens. */
void unwind_table_set(struct unwind_table *t, int pid, unsigned user, unsigned long long pc,
		      unsigned long long rule);

/* Records that the process runs a program of Go, or why its goroutines are not found. */
void unwind_table_go(struct unwind_table *t, int pid, unsigned user, enum go_loss go, long long place);

/* The process's rules do not hold any more. */
void unwind_table_drop(struct unwind_table *t, int pid);

/* The process has ended. */
void unwind_table_forget(struct unwind_table *t, int pid);

#endif
