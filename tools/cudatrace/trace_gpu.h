/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* GPU work in the timeline of --chrome: a track for each of its streams. */
#ifndef CUDATRACE_TRACE_GPU_H
#define CUDATRACE_TRACE_GPU_H
#include "base/quota.h"
#include "gputime/gpu_time.h"
#include "kernels/kernel_name.h"

struct chrome;
struct gpu_track;
struct process_table;

struct trace_gpu {
	struct gpu_time time;
	struct chrome *out;
	enum kernel_style names;	/* set by the tool */
	struct process_table *processes;
	struct gpu_track *tracks;
	int ntracks;			/* ever made */
	struct quota quota;		/* bytes of tracks */
};

/* Call when the file is open. */
void trace_gpu_open(struct trace_gpu *g, struct process_table *processes, struct chrome *out);

/* Call before the file is closed. */
void trace_gpu_close(struct trace_gpu *g);

#endif
