/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which arguments cudatrace's probes record; arguments and result as text or JSON. */
#ifndef CUDATRACE_TRACE_ARGS_H
#define CUDATRACE_TRACE_ARGS_H
#include <stdio.h>
#include "cudatrace/trace_call.h"

/* Instructions for the probes of function id of cuda_protos[], without trace_place().  flags: TRACE_SHOWN and so on, except
 * TRACE_ERROR, which follows from the prototype.  full: record the arguments. */
struct trace_function trace_describe(int id, unsigned flags, bool full);

/* Prints name=value, ... or "name":value,...  A pointer's target that was read is *name; in text it
 * replaces the pointer. */
void trace_args(FILE *f, bool json, const struct trace_call *call);

/* Prints the result: in text 0 for success, an error's name and number; in JSON the number;
 * ? or null for a call without one. */
void trace_result(FILE *f, bool json, const struct trace_call *call);

/* The name of the error that the call returned, or NULL. */
const char *trace_error(const struct trace_call *call);

/* The name of the kernel that the call launches, as text and timelines have it, or NULL. */
const char *trace_kernel_name(const struct trace_call *call);

#endif
