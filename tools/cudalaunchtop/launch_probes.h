/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* When cudalaunchtop's probes of the runtime's launches are needed.  A launch passes a probe there
 * and one in the driver, which would do to count it: the runtime's tells which kernel the driver's
 * function is, and of launches that the runtime refuses.  So it is taken out while every function
 * that is launched is known, and put in again when one is not. */
#ifndef LAUNCH_PROBES_H
#define LAUNCH_PROBES_H
#include <stdbool.h>

struct launches;
struct target;

struct launch_probes {
	struct target *target;
	struct launches *launches;
	const unsigned long long *refused;
	/* state; times in ns of CLOCK_MONOTONIC */
	unsigned long long refused_before, refused_at;
	unsigned long long looked, in_since;
	unsigned known;		/* counters, when last looked */
	bool wanted;		/* to be put in */
};

/* After load, before anything is attached: the probes that t->probes.toggle_classes names come and
 * go from now on.  refused: the probes' launches_refused.  All three must stay. */
void launch_probes_init(struct launch_probes *p, struct target *t, struct launches *l,
			const unsigned long long *refused);

/* To be called every few milliseconds. */
void launch_probes_tick(struct launch_probes *p);

#endif
