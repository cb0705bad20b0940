/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What is known of each program that is traced: the version of its runtime, and its kernels'
 * names, by what its calls tell and by looking into the process. */
#ifndef TRACE_PROGRAM_H
#define TRACE_PROGRAM_H
#include <stdbool.h>
#include "cudatrace/trace.h"

/* Does this function tell which kernel a handle or a host function stands for?  Does it launch
 * kernels or graphs, wait for the GPU? */
bool trace_names_kernels(const struct cuda_proto *proto);
bool trace_is_launch(const struct cuda_proto *proto);
bool trace_is_wait(const struct cuda_proto *proto);

struct programs;
struct syms;

/* A table of programs (sym/programs.h) for the functions below; programs_free() frees it.  Of
 * syms, NULL will do where no names of kernels are wanted. */
struct programs *trace_programs_new(struct syms *syms);

/* The process has mapped files, and may not live long. */
void trace_program_mapped(struct programs *ps, int pid);

/* Tracing begins while this process runs: notes what its kernels are, as it may end soon. */
void trace_program_scan(struct programs *ps, int pid);

/* To be called for each record of a call, in order: sets the prototype to that of the program's
 * runtime; of a call that names a kernel it learns the name, of a launch it sets the kernel. */
void trace_program_call(struct programs *ps, struct trace_call *call);

/* The child has its parent's kernels; the process ended, or exec replaced its program. */
void trace_program_fork(struct programs *ps, int parent, int child);
void trace_program_forget(struct programs *ps, int pid);

#endif
