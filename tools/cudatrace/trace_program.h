/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The traced programs (an execution of one is a struct program of sym/programs.h): the versions of their
 * runtimes and the names of their kernels, from their calls and their processes' memory. */
#ifndef TRACE_PROGRAM_H
#define TRACE_PROGRAM_H
#include "cudatrace/trace_call.h"

struct probes;
struct programs;
struct syms;

/* Creates a table of programs (sym/programs.h) for the functions below; free it with
 * programs_free().  syms may be NULL if no kernel names are wanted. */
struct programs *trace_programs_new(struct syms *syms);

/* Call when the process has mapped files, as it may end before its first call is handled. */
void trace_program_mapped(struct programs *ps, struct probes *probes, int pid);

/* Call for a pre-existing process: records its kernels, as it may end soon.  For syms_each(). */
void trace_program_scan(void *programs, int pid);

/* Call for each record of a call, in order: sets the prototype to that of the program's runtime and the
 * kernel of a launch; records the name from a call that names a kernel. */
void trace_program_call(struct programs *ps, struct probes *probes, struct trace_call *call);

/* Call at fork, as the child has its parent's kernels; and when the process ends or exec replaces
 * its program. */
void trace_program_fork(struct programs *ps, int parent, int child);
void trace_program_forget(struct programs *ps, int pid);

#endif
