/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The calls in flight: a program that hangs is in one.  The probes have seen those that were entered
 * since tracing began; of older ones the threads' stacks tell. */
#ifndef INFLIGHT_H
#define INFLIGHT_H
#include "model/inflight_state.h"

/* For a tool's skeleton and its struct session (session/session.h). */
#define INFLIGHT_OF(skel, target, with_stacks) {							\
	.link = (skel)->links.inflight_calls, .all = &(skel)->bss->inflight_all,			\
	.probes = &(target)->probes, .is_early = session_is_preexisting, .ctx = (target),		\
	.stacks = (with_stacks), .lines = (target)->lines,					\
	.only = (target)->devices, .containers = &(target)->containers }

/* Call when the probes are in: finds the calls that were entered before. */
void inflight_start(struct inflight *r);

/* Sets the rows, longest calls first.  Warns if calls are left out, as their device is not known and only some
 * are wanted. */
void inflight_collect(struct inflight *r);

/* Forgets the rows. */
void inflight_clear(struct inflight *r);

/* Frees everything; before the target's looks. */
void inflight_free(struct inflight *r);

#endif
