/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A call's arguments and result, as text or as JSON. */
#ifndef TRACE_ARGS_H
#define TRACE_ARGS_H
#include <stdbool.h>
#include <stdio.h>
#include "api/cuda_protos.h"
#include "cudatrace/trace_call.h"

/* Prints name=value, ... or "name":value,...  What a parameter points to, if it was read, is *name;
 * in text it replaces the pointer. */
void trace_args(FILE *f, bool json, const struct trace_call *call);

/* Prints the result: in text 0 for success, an error's name and number; in JSON an error's number;
 * ? or null for a call without one. */
void trace_result(FILE *f, bool json, const struct trace_call *call);

/* The name of the error it returned, or NULL. */
const char *trace_error(const struct trace_call *call);

/* The name of the kernel it launches, or NULL. */
const char *trace_kernel_name(const struct trace_call *call);

/* What the probes do for function id of cuda_protos[].  flags are TRACE_SHOWN and so on, without
 * TRACE_ERROR, which follows from the prototype.  Arguments are recorded only for a function that
 * is wanted in full. */
struct trace_function trace_describe(int id, unsigned flags, bool full);

/* Print " [...]", or a JSON array of the kernels launched since the last wait, null for NULL. */
void trace_sticky_text(FILE *f, const struct sticky_error *cause);
void trace_sticky_json(FILE *f, const struct sticky_error *cause);

#endif
