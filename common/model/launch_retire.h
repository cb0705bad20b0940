/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What is launched no longer: its room in the probes' maps is given back, and its counts are kept. */
#ifndef LAUNCH_RETIRE_H
#define LAUNCH_RETIRE_H
#include "model/launch_counter.h"

/* Call for a new counter: those of older generations at its address are over; or itself, if it is older
 * or its program has ended. */
void counter_begins(struct counters *cs, struct counter *c);

/* The counter's launches are over: fixes its kernel as the one that is known now.  Its key is removed
 * when a thread that is just counting has done so, or at once if its program has ended. */
void counter_leave(struct counters *cs, struct counter *c);

/* The same for all counters at an address, but those of this generation, if not NULL. */
void counters_leave_at(struct counters *cs, unsigned long long program, unsigned long long func,
		       const unsigned int *stays);

/* Moves what leaves and is due to retired counters, for some milliseconds at most unless all is set: then
 * all of programs that have ended. */
void counters_give_back(struct counters *cs, bool all);

/* What the counter has counted so far belongs to this kernel: moves it to a retired counter and starts
 * over; does nothing if there are too many. */
void counter_split(struct counters *cs, struct counter *c, const struct kernel *kernel);

/* Frees the retired counters of programs that are counted, and if there are many others, those that did
 * not change in the last interval; or all. */
void counters_drop_retired(struct counters *cs, bool all);

#endif
