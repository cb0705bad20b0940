/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The times in which a GPU ran nothing of a process, and which of them it spent waiting for the host: by what the thread
 * did that then gave it work.
 *
 * The runs of all streams of a device, in order of their starts, are busy time; between them are gaps.  If the call that began
 * the run after a gap had returned before the gap began, the run was queued, and the gap is the GPU's own.  Otherwise the GPU
 * waited for the host until the call returned, or the run began. */
#ifndef CUDALAUNCHTOP_GAPS_H
#define CUDALAUNCHTOP_GAPS_H
#include <stdbool.h>
#include "base/hash.h"
#include "base/log2_hist.h"
#include "base/quota.h"
#include "cudalaunchtop/host_threads.h"

struct gap_stack;
struct gpu_run;
struct pending_run;

struct gap_sum {
	unsigned long long n, ns;	/* gaps, and how long they were */
	unsigned long long most;
	struct hist hist;		/* ns */
};

/* Time of threads in gaps: stacks that look the same; of running threads also those in other lines of the same functions. */
struct gap_group {
	char *name;			/* of the state and the stack's frames */
	enum host_state state;
	const struct stack *stack;	/* the first one; NULL: not known */
	struct gap_sum sum;
	unsigned long long part;	/* of the gap that is being split, ns */
	struct gap_group *next;		/* with such a part */
	UT_hash_handle hh;
};

/* A device of a process: the time from its first run to its last one in the interval, ns. */
struct gap_device {
	struct gap_device_key { int pid; unsigned int device; /* as in abi/device.h */ } key;
	unsigned user;
	char comm[16];			/* of the process's first thread */
	unsigned long long busy, host, queued, unknown;
	unsigned long long n;		/* gaps in which it waited for the host */
	struct gap_group *groups;
	/* state */
	struct gap_stack *stacks;	/* groups by stack */
	struct gap_group *split;	/* of the gap that is being split */
	struct pending_run *runs;	/* a heap: the first one first */
	unsigned nruns, room;
	unsigned long long end, start;	/* the latest end so far; the start of the last run */
	struct gap_device *next;	/* of those whose process has ended */
	UT_hash_handle hh;
};

/* Starts zeroed but for the options. */
struct gaps {
	/* options */
	unsigned long long only;	/* devices, as in struct session; 0: all */
	struct host_threads threads;
	/* state */
	struct process_table *processes;
	struct gap_device *all, *ended;
	struct quota quota;		/* bytes, by user */
	unsigned long long late, wrong;	/* runs that came after a later one was counted; with impossible times */
	unsigned long long tidied;	/* ns */
};

void gaps_open(struct gaps *g, struct process_table *processes);

/* As on_run of struct gpu_time; g is a struct gaps *. */
void gaps_run(void *g, const struct gpu_run *r);

/* Call every few milliseconds: counts runs that are so old that earlier ones have come.  all: the rest, too. */
void gaps_tick(struct gaps *g, bool all);

/* Call when a process has ended (proc/process_table.h), after gpu_time_ended(); g is a struct gaps *. */
void gaps_ended(void *g, const struct process_event *event);

/* Calls fn for each device with time in the interval. */
typedef void gap_device_fn(void *ctx, const struct gap_device *d);
void gaps_each(const struct gaps *g, gap_device_fn *fn, void *ctx);

/* Ends the interval. */
void gaps_clear(struct gaps *g);

/* Warns of what was left out. */
void gaps_close(struct gaps *g);

#endif
