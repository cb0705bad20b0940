/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Errors that a call reports and earlier work is the cause of: a kernel faults while the program
 * goes on, and whatever call comes next, often one that waits, returns the fault. */
#ifndef TRACE_CAUSE_H
#define TRACE_CAUSE_H
#include <stdio.h>

struct trace_call;

/* What may have been the cause.  It lives until the next call of sticky_error_note(). */
struct sticky_error;

/* Is it an error that a call only reports?  From the comments of NVIDIA's cudaError and CUresult:
 * those that leave the process unable to use the GPU. */
bool sticky_error_is(int error);

/* To be called for each call at its return, in order, after its kernel is known: notes launches
 * and successful waits; returns what is to be said of this call, or NULL. */
const struct sticky_error *sticky_error_note(const struct trace_call *call);

/* The process ended, or exec replaced its program. */
void sticky_error_forget(int pid);

/* " [...]"; a JSON array of the kernels launched since the last wait, null for NULL. */
void sticky_error_text(FILE *f, const struct sticky_error *cause);
void sticky_error_json(FILE *f, const struct sticky_error *cause);

#endif
