/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Calls that were entered before tracing began: found on the threads' stacks.  Private to running.c. */
#ifndef INFLIGHT_EARLY_H
#define INFLIGHT_EARLY_H
#include <stddef.h>

struct inflight;
struct inflight_call;
struct inflight_thread;

/* Returns the thread if it may be in such a call; id says in which.  Looks at its stack, unless that is
 * unchanged since the last time.  user as in struct quota. */
const struct inflight_thread *inflight_early(struct inflight *r, const struct inflight_call *c,
					    unsigned user);

/* Forgets the threads that were not seen in this round. */
void inflight_early_tidy(struct inflight *r);

/* Returns the stack of a thread, innermost frame first but for those that are left out; NULL if it
 * cannot be had. */
const struct stack *inflight_stack(struct inflight *r, const struct inflight_call *c);

#endif
