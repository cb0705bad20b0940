/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Failures that repeat: one line for the first, and then at most one a second for those of a process that have the same
 * function, error, call stack and next call, whatever their threads and arguments. */
#ifndef CUDATRACE_TRACE_REPEATS_H
#define CUDATRACE_TRACE_REPEATS_H
#include "base/quota.h"

struct process_table;
struct trace_call;
struct trace_lines;

struct trace_repeats {
	struct trace_lines *lines;
	struct process_table *processes;
	struct trace_repeat *all;
	struct quota quota;		/* bytes of the calls that are held */
	unsigned long long due;		/* no line is before that: CLOCK_MONOTONIC, ns */
};

/* The caller owns lines and processes. */
struct trace_repeats trace_repeats_init(struct trace_lines *lines, struct process_table *processes);

/* Prints the failure, or holds it until trace_repeats_tick(). */
void trace_repeats_call(struct trace_repeats *r, const struct trace_call *call);

/* Call at least once a second: prints what is due at this time (CLOCK_MONOTONIC, ns). */
void trace_repeats_tick(struct trace_repeats *r, unsigned long long now);

/* Call when the process ends or exec replaces its program, and, with -1, at the end: prints what is held. */
void trace_repeats_end(struct trace_repeats *r, int pid);

#endif
