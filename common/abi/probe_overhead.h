/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Cost of probes by process, in the map overhead of bpf/lib/overhead.bpf.h, by its id. */
#ifndef ABI_PROBE_OVERHEAD_H
#define ABI_PROBE_OVERHEAD_H

/* Each thread adds up so many hits before it counts them: a prime, so that the one of them whose time is taken is of any
 * function in turn. */
enum { OVERHEAD_STEP = 61, OVERHEAD_PROCESSES = 4096, OVERHEAD_OWN = 1024 };

struct overhead_hits {
	unsigned long long hits;	/* runs of the tool's programs, each after a trap */
	unsigned long long ns;		/* that one run of each OVERHEAD_STEP took */
	unsigned long long entries;	/* of hits: launches of which only the entry is probed */
	unsigned int share, unused;	/* share: the user's number in overhead_shares */
};

/* How launches of a process are counted, in the map launch_gates, by its id. */
enum {
	LAUNCH_OWN = 1,		/* by links of its own: see common/budget/split.h */
	LAUNCH_CLOSED = 2,	/* not at all, where their returns are probed: these probes are about to go, and a call whose return
				 * is not seen would stay in flight */
};

/* Not zero, it applies also to links that are in all processes. */
struct launch_gate {
	unsigned long long gated;	/* there are processes in launch_gates */
	unsigned long long closed;	/* LAUNCH_CLOSED for all */
};

#endif
