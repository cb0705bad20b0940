/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* From the records of cudatrace's probes to the requested output. */
#ifndef CUDATRACE_TRACE_RECORDS_H
#define CUDATRACE_TRACE_RECORDS_H
#include <stdbool.h>
#include <stddef.h>
#include "abi/cudatrace.h"
#include "cudatrace/trace_chrome.h"
#include "cudatrace/trace_errors.h"
#include "cudatrace/trace_first.h"
#include "cudatrace/trace_gpu.h"
#include "cudatrace/trace_line.h"
#include "cudatrace/trace_repeats.h"
#include "cudatrace/trace_summary.h"
#include "model/captures.h"
#include "model/stack_sums.h"
#include "pprof/profile.h"
#include "probe/probe_source.h"
#include "proc/process_table.h"

struct aggregate;

struct trace {			/* all zero except the options and sums */
	/* options */
	const char *expression, *output, *chrome;
	bool failed, summary, unchecked, tree, no_returns, folded;
	int names;		/* --kernel-names: enum kernel_style */
	bool gpu_time, nodes;	/* in the timeline: what runs on the GPU; each kernel of graphs */
	long slower;		/* ns: only calls that took at least this long */
	long max;		/* calls; 0 = no limit */
	unsigned long long only;	/* bit n: calls on device n; 0 = on every device */
	struct trace_lines lines;
	struct executions *programs;	/* owned by the tool */
	struct probes *probes;	/* the session's */
	struct syms *syms;
	struct process_table *processes;	/* the session's */
	/* set by trace_prepare() */
	unsigned char *selected;	/* by id: enum trace_selected */
	bool launches;		/* launches are shown, so kernel names are wanted */
	bool only_firsts;	/* of some launches, only the first one of each kernel */
	bool devices;		/* the device of each call is found */
	bool marks_captured;	/* and whether it is captured */
	bool aggregate;		/* only numbers and times of calls are wanted: the probes count them */
	bool allocations;	/* allocations are in the timeline, so held memory is wanted */
	struct captures captures;	/* set by the tool */
	struct trace_function *functions;	/* by id, source.n: what the probes do */
	struct cuda_args *places;	/* by id: for the map places */
	struct probe_source source;	/* the selected functions and others that are needed */
	long shown;		/* calls */
	unsigned long long previous;	/* see struct trace_lines */
	/* sums of records */
	struct trace_chrome timeline;
	struct trace_gpu gpu;	/* for the timeline */
	struct trace_held held;	/* for the timeline */
	struct trace_summary calls;
	struct stack_sums sums;	/* with --folded: ns */
	struct profile profile;
	struct trace_trees trees;
	struct trace_unchecked failures;
	struct trace_repeats repeats;
	struct trace_sticky sticky;
	struct trace_firsts firsts;
};

/* Handles a record of the probes. */
int trace_record(struct trace *t, const void *data, size_t size);

/* Adds calls that the probes have counted to the summary; with pid 0 they may be of several processes. */
void trace_counted(struct trace *t, const struct aggregate *calls);

/* Return true once --max-events calls were shown. */
bool trace_done(const struct trace *t);

/* Call when a process has ended (proc/process_table.h): prints the calls that it was in, and drops its state.  trace is a struct
 * trace *. */
void trace_ended(void *trace, const struct process_event *event);

/* Prints unfinished trees and frees *t's data.  Close the timeline before. */
void trace_free(struct trace *t);

#endif
