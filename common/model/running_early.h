/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Calls that were entered before tracing began: found on the threads' stacks.  Private to running.c. */
#ifndef RUNNING_EARLY_H
#define RUNNING_EARLY_H
#include <stddef.h>

struct running;
struct running_call;
struct running_thread;

/* Returns the thread if it may be in such a call; id says in which.  Looks at its stack, unless that is
 * unchanged since the last time.  user as in struct quota. */
const struct running_thread *running_early(struct running *r, const struct running_call *c,
					    unsigned user);

/* Forgets the threads that were not seen in this round. */
void running_early_tidy(struct running *r);

/* Returns the stack of a thread, innermost frame first but for those that are left out; NULL if it
 * cannot be had. */
const struct stack *running_stack(struct running *r, const struct running_call *c);

#endif
