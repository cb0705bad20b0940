/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What a process holds, and held at most, by kind of memory and call stack.  The functions are for
 * mem_process.c and memory.c. */
#ifndef MEM_GROUP_H
#define MEM_GROUP_H
#include "base/hash.h"

struct mem_process;
struct stack;

/* Earlier reports that a sum can be compared with. */
enum mem_mark { MEM_LAST, MEM_FIRST, MEM_MARKS };

struct mem_sum {
	unsigned long long bytes, count;	/* of allocations */
	unsigned long long peak;		/* the most bytes at any time */
	struct { unsigned long long bytes, count; } marks[MEM_MARKS];	/* then: memory_mark() */
};

struct mem_group {
	struct {
		const struct stack *stack;	/* as shown; NULL: none */
		unsigned long memory;		/* enum cuda_memory */
	} key;
	struct mem_sum held;
	UT_hash_handle hh;
};

/* Returns the group of this stack and kind; NULL if there are too many. */
struct mem_group *mem_group_of(struct mem_process *process, const struct stack *stack,
			       unsigned char memory);

/* Add and remove an allocation of the group, in the sums of its kind and process too. */
void mem_group_add(struct mem_process *process, struct mem_group *group, unsigned long long size);
void mem_group_drop(struct mem_process *process, struct mem_group *group, unsigned long long size);

/* Remembers all sums of the process. */
void mem_groups_mark(struct mem_process *process, enum mem_mark mark);

/* Frees groups that hold nothing and did not at a mark, if there are enough of them; or all groups,
 * when the process has no allocation any more. */
void mem_groups_drop_idle(struct mem_process *process);
void mem_groups_free(struct mem_process *process);

#endif
