/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A call's arguments and result, as text or as JSON. */
#ifndef TRACE_ARGS_H
#define TRACE_ARGS_H
#include <stdio.h>
#include "cudatrace/trace.h"

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

#endif
