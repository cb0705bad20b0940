/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A timeline of calls, as complete events ("ph":"X"; see view/chrome.h), of work in streams and of held
 * memory.  When work begins and ends is unknown: it is a slice of length 0 with an arrow from its call. */
#ifndef CUDATRACE_TRACE_CHROME_H
#define CUDATRACE_TRACE_CHROME_H
#include <stdbool.h>
#include "base/quota.h"
#include "model/memory.h"
#include "view/chrome.h"

struct cuda_proto;
struct trace_call;
struct process_table;

struct trace_chrome {
	struct chrome out;	/* open it with chrome_open() */
	struct process_table *processes;
	struct thread_track *threads;	/* those named so far */
	struct stream_track *streams;
	int nstreams;		/* tracks ever made for streams */
	struct quota thread_quota, stream_quota;	/* bytes of their tracks */
};

/* The caller owns processes. */
struct trace_chrome trace_chrome_init(struct process_table *processes);

void trace_chrome_call(struct trace_chrome *c, const struct trace_call *call);

/* Call when the process ends or exec replaces its program. */
void trace_chrome_forget(struct trace_chrome *c, int pid);

/* Ends the array, closes the file and frees *c's data.  On a write error warns and returns false. */
bool trace_chrome_close(struct trace_chrome *c);

/* The memory that processes hold, from their calls. */
struct trace_held {
	struct memory memory;
	struct held_thread *threads;	/* that chose a device or context */
	struct process_table *processes;
	struct quota quota;	/* bytes of threads */
};

/* The caller owns processes. */
struct trace_held trace_held_init(struct process_table *processes);

/* Return true if the function allocates or frees memory, or sets where. */
bool trace_changes_held(const struct cuda_proto *proto);

/* Applies a call of such a function and returns its process; NULL for other calls or if the process has
 * no room. */
struct mem_process *trace_held_call(struct trace_held *h, const struct trace_call *call);

/* Call when a process ends or exec replaces its program; -1: all. */
void trace_held_forget(struct trace_held *h, int pid);

void trace_held_free(struct trace_held *h);

#endif
