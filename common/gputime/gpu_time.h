/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The time that kernels and copies took on the GPU, as the library in their program measures it (abi/agent_gputime.h). */
#ifndef GPUTIME_GPU_TIME_H
#define GPUTIME_GPU_TIME_H
#include "gputime/gpu_state.h"

struct gpu_launch;
struct process_event;

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
void gpu_time_each(const struct gpu_time *g, gpu_tally_fn *fn, void *ctx);

/* For a tool that adds up elsewhere, in place of gpu_time_count(): calls fn for each tally with runs in pending, and drops
 * those for which it returns true.  A process that has ended is dropped with its last tally. */
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
