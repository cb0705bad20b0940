/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A number for each call stack, function and name of a thread. */
#ifndef MODEL_STACK_SUMS_H
#define MODEL_STACK_SUMS_H
#include <stddef.h>
#include "base/hash.h"
#include "base/quota.h"

struct process_table;
struct stack;

struct stack_sum {
	struct { const struct stack *stack; const char *function; char comm[16]; } key;
	unsigned long long sum;
	unsigned long long times;	/* that something was added */
	int pid;		/* of the process; 0: of several */
	UT_hash_handle hh;
};

struct stack_sums {		/* starts as STACK_SUMS_INIT(the session's table) */
	struct stack_sum *all;
	struct process_table *processes;	/* the session's */
	struct quota quota;	/* bytes */
};

#define STACK_SUMS_INIT(table) {								\
	.processes = (table),								\
	.quota = { .limit = 32 << 20, .what = "calls by call stack",			\
		   .loss = "calls of further stacks are not counted" } }

/* Adds n to the sum of a stack (NULL: without any) of a process, unless there are too many.  function must
 * be the same pointer for the same function, and live as long as the sums. */
void stack_sums_add(struct stack_sums *sums, int pid, const char *comm, const struct stack *stack,
		    const char *function, unsigned long long n);

/* Returns the *n sums, largest first, valid until stack_sums_free().  The caller frees the array. */
const struct stack_sum **stack_sums_sorted(const struct stack_sums *sums, size_t *n);

void stack_sums_free(struct stack_sums *sums);

#endif
