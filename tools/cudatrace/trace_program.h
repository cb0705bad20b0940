/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What is known about each traced program: the version of its runtime and the names of its kernels,
 * learned from its calls and by inspecting the process. */
#ifndef TRACE_PROGRAM_H
#define TRACE_PROGRAM_H
#include <stdbool.h>
#include "cudatrace/trace_call.h"

/* Return true if the function tells which kernel a handle or a host function stands for, if it
 * launches kernels or graphs, and if it waits for the GPU. */
bool trace_names_kernels(const struct cuda_proto *proto);
bool trace_is_launch(const struct cuda_proto *proto);
bool trace_is_wait(const struct cuda_proto *proto);

struct probes;
struct programs;
struct syms;

/* Creates a table of programs (sym/programs.h) for the functions below; free it with
 * programs_free().  syms may be NULL if no kernel names are wanted. */
struct programs *trace_programs_new(struct syms *syms);

/* Call when the process has mapped files; it may not live long. */
void trace_program_mapped(struct programs *ps, struct probes *probes, int pid);

/* Call for a process that runs when tracing begins: records its kernels, as it may end soon. */
void trace_program_scan(struct programs *ps, int pid);

/* Call for each record of a call, in order: sets the prototype to that of the program's runtime,
 * learns the name from a call that names a kernel, sets the kernel of a launch. */
void trace_program_call(struct programs *ps, struct probes *probes, struct trace_call *call);

/* Call at fork, as the child has its parent's kernels; and when the process ends or exec replaces
 * its program. */
void trace_program_fork(struct programs *ps, int parent, int child);
void trace_program_forget(struct programs *ps, int pid);

#endif
