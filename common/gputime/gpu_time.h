/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The time that kernels and copies took on the GPU, as the library in their program measures it (abi/gputime.h). */
#ifndef GPU_TIME_H
#define GPU_TIME_H
#include <stdbool.h>
#include <stddef.h>
#include "abi/gputime.h"
#include "base/hash.h"
#include "base/log2_hist.h"
#include "base/quota.h"

struct gpu_caller;
struct gpu_launch;
struct gpu_process;
struct kernel;
struct kernel_names;
struct process_event;
struct process_table;

struct gpu_sum {
	unsigned long long n, ns;	/* runs, and how long they took */
	unsigned long long bytes;	/* of copies and memsets */
	unsigned long long least, most;	/* ns */
	struct hist hist;		/* ns */
};

void gpu_sum_add(struct gpu_sum *to, const struct gpu_sum *from);

/* What a process ran on a device: a kernel, a graph as a whole, copies of a direction, or memsets. */
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

/* What ran. */
struct gpu_run {
	const struct kernel *kernel;	/* as in struct gpu_tally_key, as are … */
	unsigned int kind, device, graph, direction;	/* … these */
	unsigned int context, stream, correlation;	/* CUPTI's numbers */
	int pid;
	unsigned long long start, end;	/* CLOCK_MONOTONIC, ns */
	unsigned long long bytes;	/* of copies and memsets */
	const struct gpu_caller *caller;	/* with callers (gputime/gpu_calls.h); NULL: not known */
};

/* Starts zeroed but for the options. */
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

/* Sets run_ns and of_ns from the value of --sample.  Exits 2 if it is wrong. */
void gpu_time_sample(struct gpu_time *g, const char *text);

/* Call when want is set. */
void gpu_time_open(struct gpu_time *g, struct process_table *processes);

/* Call before command_go(): has the driver load the library into the command's programs.  Exits 1 if there is none. */
void gpu_time_begin(struct gpu_time *g);

/* Call every few milliseconds: reads, and looks for further processes. */
void gpu_time_tick(struct gpu_time *g);

/* Call for each launch that a probe saw at its entry, with sites (gputime/gpu_calls.h): tallies are kept apart by its site. */
void gpu_time_launched(struct gpu_time *g, int pid, const struct gpu_launch *launch);

/* May be called when a process has made its first call, which loads the library: finds it soon, not within seconds. */
void gpu_time_expect(struct gpu_time *g, int pid);

/* Call when a process has ended (proc/process_table.h); g is a struct gpu_time *. */
void gpu_time_ended(void *g, const struct process_event *event);

/* Ends an interval. */
void gpu_time_count(struct gpu_time *g);

/* Calls fn for each tally. */
typedef void gpu_tally_fn(void *ctx, const struct gpu_tally *t);
void gpu_time_each(const struct gpu_time *g, gpu_tally_fn *fn, void *ctx);

/* For a tool that adds up elsewhere, in place of gpu_time_count(): calls fn for each tally with runs in pending, and drops
 * those for which it returns true.  A process that has ended is dropped with its last tally. */
typedef bool gpu_take_fn(void *ctx, const struct gpu_tally *t);
void gpu_time_take(struct gpu_time *g, gpu_take_fn *fn, void *ctx);

/* Switches it off, and reads what CUPTI still had.  Call before the last report. */
void gpu_time_stop(struct gpu_time *g);

/* Return true if what a process runs was measured at some time. */
bool gpu_time_measured(const struct gpu_time *g, int pid);

/* Calls fn for each process of which that is true; program: as in struct gpu_tally. */
typedef void gpu_measured_fn(void *ctx, int pid, unsigned long long program);
void gpu_time_each_measured(const struct gpu_time *g, gpu_measured_fn *fn, void *ctx);

/* Warns of what is missing. */
void gpu_time_close(struct gpu_time *g);

#endif
