/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Matches runs with launch calls: the k-th run of a kernel in a context is of the k-th call that names it there.  Where
 * their numbers differ, as with graphs, which run kernels without a call, runs have no call. */
#ifndef CUDAKERNELTIME_LAUNCH_CALLS_H
#define CUDAKERNELTIME_LAUNCH_CALLS_H
#include "base/hash.h"
#include "cudakerneltime/kernel_report.h"
#include "cudakerneltime/runs.h"

struct syms;

/* Limits of calls, of pairs of kernel and context, and of the bytes of their names. */
enum { LAUNCH_CALLS_MAX = 1 << 20, LAUNCH_CALL_NAMES_MAX = 1 << 16, LAUNCH_CALL_BYTES_MAX = 32 << 20 };

/* Starts zeroed except for syms. */
struct launch_calls {
	struct syms *syms;
	struct call_list *lists;
	size_t calls, bytes;
	unsigned long long dropped;	/* beyond the limits */
	unsigned long long unmatched;	/* runs whose call is unknown, set by launch_calls_match() */
};

/* Reads a frame GPUPROBE_LAUNCHES of a process (its connection and pid), and the process's mappings.  Returns NULL, or an
 * error. */
const char *launch_calls_frame(struct launch_calls *calls, unsigned process, int pid, const void *data, size_t size);

/* Adds all runs to rows, with the stacks of their calls; sorts the list. */
void launch_calls_match(struct launch_calls *calls, struct run_list *list, struct kernel_rows *rows);

void launch_calls_free(struct launch_calls *calls);

#endif
