/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The traced programs (an execution of one is a struct execution of kernels/executions.h): the versions of their
 * runtimes and the names of their kernels, from their calls and their processes' memory. */
#ifndef CUDATRACE_TRACE_EXECUTION_H
#define CUDATRACE_TRACE_EXECUTION_H
#include "cudatrace/trace_call.h"

struct probes;
struct trace_firsts;
struct executions;
struct syms;

/* Creates a table of programs (kernels/executions.h) for the functions below; free it with
 * executions_free().  syms may be NULL if no kernel names are wanted. */
struct executions *trace_executions_new(struct syms *syms);

/* Call when the process has mapped files, as it may end before its first call is handled. */
void trace_execution_mapped(struct executions *ps, struct probes *probes, int pid);

/* Call for a pre-existing process: records its kernels, as it may end soon.  For syms_each(). */
void trace_execution_scan(void *programs, int pid);

/* Call for each record of a call, in order: sets the prototype to that of the program's runtime and the
 * kernel of a launch, and whether it is the first one of that; records the name from a call that names a kernel. */
void trace_execution_call(struct executions *ps, struct probes *probes, struct trace_firsts *firsts, struct trace_call *call);

/* Call at fork, as the child has its parent's kernels; and when the process ends or exec replaces
 * its program. */
void trace_execution_fork(struct executions *ps, int parent, int child);
void trace_execution_forget(struct executions *ps, int pid);

#endif
