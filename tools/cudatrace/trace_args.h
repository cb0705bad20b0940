/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A call's arguments and its result, as text or as JSON. */
#ifndef TRACE_ARGS_H
#define TRACE_ARGS_H
#include <stdio.h>
#include "cudatrace/trace.h"

/* name=value, ... or "name":value,...: what a parameter points to, where that was read, is *name.
 * In text it stands in place of the pointer. */
void trace_args(FILE *f, bool json, const struct trace_call *call);

/* Its result: in text 0 for success, an error's name and number; in JSON an error's number;
 * ? or null of a call that has none. */
void trace_result(FILE *f, bool json, const struct trace_call *call);

/* The name of the error that it returned, or NULL. */
const char *trace_error(const struct trace_call *call);

/* The name of the kernel that it launches, or NULL. */
const char *trace_kernel_name(const struct trace_call *call);

#endif
