/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The calls in flight: a program that hangs is in one.  The probes have seen those that were entered
 * since tracing began; of older ones the threads' stacks tell. */
#ifndef RUNNING_H
#define RUNNING_H
#include "model/running_state.h"

/* For a tool's skeleton and its struct target (session/target.h). */
#define RUNNING_OF(skel, target, with_stacks) {							\
	.link = (skel)->links.running_calls, .all = &(skel)->bss->running_all,			\
	.probes = &(target)->probes, .is_early = target_is_early, .ctx = (target),		\
	.stacks = (with_stacks), .lines = (target)->lines,					\
	.only = (target)->devices, .containers = &(target)->containers }

/* Call when the probes are in: finds the calls that were entered before. */
void running_start(struct running *r);

/* Sets the rows, longest calls first.  Warns if calls are left out, as their device is not known and only some
 * are wanted. */
void running_collect(struct running *r);

/* Forgets the rows. */
void running_clear(struct running *r);

/* Frees everything; before the target's looks. */
void running_free(struct running *r);

#endif
