/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What grows in a process: it has reached new maxima for some time, and lately. */
#ifndef CUDATOP_GROWTH_H
#define CUDATOP_GROWTH_H
#include "model/handle_counts.h"

/* GROWS_HANDLES + n: of enum cuda_memory CUDA_CODE + n. */
enum top_grows { GROWS_MEMORY, GROWS_PINNED, GROWS_USED, GROWS_HANDLES, TOP_GROWS = GROWS_HANDLES + HANDLE_KINDS };

/* The maximum, when that was reached, and when and from where it has been reaching new ones without a pause. */
struct top_growth {
	unsigned long long peak, from;
	unsigned long long grew, since;	/* ns */
	/* Of GROWS_USED: memory that is allocated, of handles: those that were destroyed; at the maximum, and at its from. */
	unsigned long long other, other_from;
};

struct top_grown {
	enum top_grows what;
	unsigned long long by, other;	/* other: likewise */
	double s, share;		/* share: of the maximum; 0: nothing grows */
};

/* Notes what it is now. */
void growth_see(struct top_growth *g, unsigned long long is, unsigned long long other, unsigned long long now);

/* Returns that of all, of the TOP_GROWS of a process, from first up to last which has grown by the largest part. */
struct top_grown growth_most(const struct top_growth *all, enum top_grows first, enum top_grows last, unsigned long long now);

#endif
