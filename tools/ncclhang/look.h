/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Looks at what the ranks of each communicator do now, by their calls, waits, and what is complete. */
#ifndef NCCLHANG_LOOK_H
#define NCCLHANG_LOOK_H
#include "ncclhang/hang.h"

struct communicators;
struct completion;
struct inflight;

/* A rank whose process has ended with the communicator. */
struct hang_ended {
	unsigned long long hash, time, number;	/* time: ns */
	unsigned user;
	int nranks, rank, pid;
};

/* Sources on the ranks. */
struct hang_sources {
	const struct communicators *communicators;
	const struct completion *completion;
	const struct inflight *inflight;
	const struct hang_ended *ended;
	size_t nended;
};

/* Looks at all communicators, at the time of the calls in flight.  Those where something moved in the last stall_ns are
 * HANG_MOVING.  What the result points to is valid until records are handled or inflight_clear(). */
struct hangs hangs_look(const struct hang_sources *from, unsigned long long stall_ns);

/* Adds a process of the job in which no communicator was seen: the others may wait for it.  rank: in the communicator, -1: not
 * known. */
void hang_add_missing(struct hang *h, int pid, int rank, const struct inflight *inflight);

#endif
