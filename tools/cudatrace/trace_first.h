/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The first launch of each kernel by a process: the driver may load the kernel's code in it (CUDA_MODULE_LOADING=LAZY). */
#ifndef CUDATRACE_TRACE_FIRST_H
#define CUDATRACE_TRACE_FIRST_H
#include <stdbool.h>
#include "base/quota.h"

struct process_table;

struct trace_firsts {
	struct process_table *table;
	struct launching_process *processes;	/* by pid */
	struct quota quota;		/* in kernels and processes */
	unsigned long long lost;	/* launches of kernels that were too many */
};

/* The caller owns table. */
struct trace_firsts trace_firsts_init(struct process_table *table);

/* Call for each successful launch, in order, with the kernel as passed.  Return true if it is the first one that was
 * seen of that kernel. */
bool trace_first_launch(struct trace_firsts *f, int pid, unsigned long long func);

/* Call when a kernel is unloaded, for kernel_map_unload(); unload is a struct trace_first_unload *. */
struct trace_first_unload {
	struct trace_firsts *firsts;
	int pid;
};
void trace_first_unloaded(void *unload, unsigned long long func);

/* Call when the process ends or exec replaces its program. */
void trace_first_forget(struct trace_firsts *f, int pid);

/* Frees *f's data, and warns of losses. */
void trace_firsts_free(struct trace_firsts *f);

#endif
