/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What cudatrace's probes read for each function. */
#ifndef TRACE_DESCRIBE_H
#define TRACE_DESCRIBE_H
#include <stdbool.h>
#include "cudatrace/trace.h"

/* What the probes do for function id of cuda_protos[].  flags are TRACE_SHOWN and so on, without
 * TRACE_ERROR, which follows from the prototype.  Arguments are recorded only for a function that
 * is wanted in full. */
struct trace_function trace_describe(int id, unsigned flags, bool full);

/* The index in call->read[] of what this parameter points to; -1 if it is not read. */
int trace_read_of(const struct trace_call *call, const struct cuda_param *p);

#endif
