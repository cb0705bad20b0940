/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Launches that were not seen because their probes were detached: as many a second as in the last window in which they were
 * attached.  What is seen after a window, until the kernel has removed the last breakpoint, is part of the estimate. */
#ifndef LAUNCH_ESTIMATES_H
#define LAUNCH_ESTIMATES_H
#include <stdbool.h>
#include "abi/cudaexporter.h"
#include "base/hash.h"

struct launch_estimate {
	struct export_key key;		/* of the counts */
	unsigned long long count;	/* since launch_estimates_begin() */
	unsigned long long before, at;	/* count where the last window began, ended */
	unsigned long long since;	/* when it ended, ns; 0: it goes on */
	double rate;			/* of it, per ns */
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

/* Call when the counts were read, for an estimate: where a window begins, ends.  began: when it did, ns. */
void launch_estimate_window(struct launch_estimate *e, unsigned long long now);
void launch_estimate_gap(struct launch_estimate *e, unsigned long long began, unsigned long long now);

/* Returns how many launches were not seen until now; never decreases. */
unsigned long long launch_estimate_value(struct launch_estimate *e, unsigned long long now);

/* Drops one; all. */
void launch_estimates_drop(struct launch_estimates *e, struct launch_estimate *one);
void launch_estimates_free(struct launch_estimates *e);

#endif
