/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* State of gpu_time.h's functions: what ran, its sums, and the state of a run of a tool. */
#ifndef GPUTIME_GPU_STATE_H
#define GPUTIME_GPU_STATE_H
#include <stdbool.h>
#include <stddef.h>
#include "abi/agent_gputime.h"
#include "base/hash.h"
#include "base/log2_hist.h"
#include "base/quota.h"

struct gpu_caller;
struct gpu_process;
struct kernel;
struct kernel_names;
struct process_table;

struct gpu_sum {
	unsigned long long n, ns;	/* runs, and how long they took */
	unsigned long long bytes;	/* of copies and memsets */
	unsigned long long least, most;	/* ns */
	struct hist hist;		/* ns */
};

/* Adds up sums. */
void gpu_sum_add(struct gpu_sum *to, const struct gpu_sum *from);

/* Kind of work of a process on a device: a kernel, a graph as a whole, copies of a direction, or memsets. */
struct gpu_tally {
	struct gpu_tally_key {
		const struct kernel *kernel;	/* NULL: its name is not known, or it is a graph */
		unsigned int kind, device;	/* enum gputime_kind; as in abi/device.h */
		unsigned int graph;		/* CUPTI's number */
		unsigned int direction;		/* of copies: enum cuda_direction */
		const void *site;		/* of the launch: see gpu_time_launched(); NULL: not known, or not wanted */
	} key;
	int pid;
	unsigned user;
	unsigned long long program;	/* as in struct process_event, when it has ended; 0: it lives, or ended without a record */
	bool ended;
	const char *comm;	/* of the process's first thread */
	struct gpu_sum pending, last, total;	/* in this interval, in the last one, and ever */
	UT_hash_handle hh;
};

typedef void gpu_tally_fn(void *ctx, const struct gpu_tally *t);
typedef bool gpu_take_fn(void *ctx, const struct gpu_tally *t);

/* Work that ran. */
struct gpu_run {
	const struct kernel *kernel;	/* as in struct gpu_tally_key, as are … */
	unsigned int kind, device, graph, direction;	/* … these */
	unsigned int context, stream, correlation;	/* CUPTI's numbers */
	int pid;
	unsigned long long start, end;	/* CLOCK_MONOTONIC, ns */
	unsigned long long bytes;	/* of copies and memsets */
	const struct gpu_caller *caller;	/* with callers (gputime/gpu_calls.h); NULL: not known */
};

/* For gpu_time.h's functions; starts zeroed but for the options. */
struct gpu_time {
	/* options */
	unsigned want;			/* enum gputime_want; 0: nothing is measured */
	unsigned long long run_ns, of_ns;	/* for run_ns of each of_ns; 0: always */
	bool is_command;		/* that it was begun with: see gpu_time_begin() */
	bool keep;			/* what ended processes ran stays; else only until the next interval */
	bool callers;			/* runs wait for their calls, for which GPUTIME_LAUNCHES or _COPY_CALLS is set … */
	bool sites;			/* … and for gpu_time_launched() */
	void (*on_run)(void *ctx, const struct gpu_run *r);	/* for each, instead of tallies; or NULL */
	void *ctx;
	/* state */
	struct process_table *processes;
	struct kernel_names *names;
	struct gpu_process *all, *ended;	/* by pid; their memory is read to its end */
	struct quota quota;		/* bytes, by user */
	struct budget budget;		/* time, by user */
	unsigned long long looked, checked;	/* when processes were last looked for, and whether they live, ns */
	long long mount;		/* that every memfd is in */
	unsigned long long dropped, unknown, untimed;	/* records so far: lost, malformed, without a time */
	unsigned long long uncalled;	/* runs whose call, or its site, is not known, with callers */
	bool told;			/* that a process has no such library */
};

#endif
