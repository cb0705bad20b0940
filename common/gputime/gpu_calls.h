/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The calls of a process that began what ran on its GPUs: joins what CUPTI tells of a call, by its number, with what a probe of
 * the tool saw of it, by thread and time. */
#ifndef GPUTIME_GPU_CALLS_H
#define GPUTIME_GPU_CALLS_H
#include <stdbool.h>

struct gpu_calls;
struct quota;

/* A call as CUPTI measured it. */
struct gpu_caller {
	unsigned correlation;
	int tid;			/* in our pid namespace; 0: not known */
	unsigned long long start, end;	/* CLOCK_MONOTONIC, ns */
	bool seen;			/* with sites: a probe saw it … */
	const void *site;		/* … as the launch from here; may be NULL */
};

/* A launch that a probe saw at its entry. */
struct gpu_launch {
	int tid, own_tid;		/* of the thread: in our pid namespace, and in its own */
	unsigned long long time;	/* CLOCK_MONOTONIC, ns */
	const void *site;		/* the tool's; NULL: not known */
};

/* sites: probes report launches, too, with their call sites.  Memory is taken from the quota of the process's user. */
struct gpu_calls *gpu_calls_new(int pid, unsigned user, struct quota *quota, bool sites);
void gpu_calls_free(struct gpu_calls *c);

/* A thread's launches come in order. */
void gpu_calls_launched(struct gpu_calls *c, const struct gpu_launch *launch);

/* Records one CUPTI callback; thread is its id in the process's own pid namespace. */
void gpu_calls_called(struct gpu_calls *c, int thread, unsigned long long start, unsigned long long end, unsigned correlation);

/* Call every few milliseconds: joins what has come since.  last: nothing more comes. */
void gpu_calls_tick(struct gpu_calls *c, bool last);

/* Returns the call with this number if it was told and, with sites, joined or given up; else NULL.  Valid until the next call of
 * these functions. */
const struct gpu_caller *gpu_calls_find(const struct gpu_calls *c, unsigned correlation);

#endif
