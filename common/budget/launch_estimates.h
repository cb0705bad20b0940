/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Launches that were not seen because their probes were detached: as many a second of the program's CPU time as in the last
 * window in which they were attached, without the time that the probes took.  So a program that waits launches none, and one
 * that is slow in a window because of the probes launches more without them.  Other threads may use the CPU time: it is at most
 * twice as many as by the clock.  What is seen after a window, until the kernel has removed the last breakpoint, is part of the
 * estimate. */
#ifndef BUDGET_LAUNCH_ESTIMATES_H
#define BUDGET_LAUNCH_ESTIMATES_H
#include <stdbool.h>
#include "abi/cudaexporter.h"
#include "base/hash.h"

/* The time, CPU time of a process so far, and of that the time of its probes, ns.  The CPU time of a thread that runs is as old as
 * its CPU's last tick. */
struct launch_time { unsigned long long clock, cpu, probes; };

struct launch_estimate {
	struct export_key key;		/* of the counts */
	unsigned long long count;	/* since launch_estimates_begin() */
	unsigned long long before, at;	/* count where the last window began, ended */
	struct launch_time ended;	/* the last window, … */
	bool gap;			/* … if it has */
	double rate, clock_rate;	/* of it, per ns of CPU time, and by the clock */
	double closed;			/* the estimate for all times between windows before */
	unsigned long long shown;	/* the largest value so far */
	UT_hash_handle hh;
};

struct launch_estimates {
	struct launch_estimate *all;	/* for HASH_ITER(hh, ...) */
};

/* To read counts: begin, then add each; a key may have several counts.  add: keys that are not known yet, too. */
void launch_estimates_begin(struct launch_estimates *e);
void launch_estimates_add(struct launch_estimates *e, const struct export_key *key, unsigned long long count, bool add);

/* Return true if it estimates the launches of this key. */
bool launch_estimates_wants(const struct export_key *key);

/* Call when the counts were read, for an estimate: where a window begins, ends; or at the end of the program. */
void launch_estimate_window(struct launch_estimate *e, const struct launch_time *now);
void launch_estimate_gap(struct launch_estimate *e, const struct launch_time *began, const struct launch_time *now);

/* Returns how many launches were not seen until now; never decreases.  A time of zeros adds none. */
unsigned long long launch_estimate_value(struct launch_estimate *e, const struct launch_time *now);

/* Drops one; all. */
void launch_estimates_drop(struct launch_estimates *e, struct launch_estimate *one);
void launch_estimates_free(struct launch_estimates *e);

#endif
