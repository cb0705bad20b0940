/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Prints work that was not waited for: what may have caused a sticky error, or what a call in flight waits for. */
#ifndef CUDATRACE_TRACE_SUSPECTS_H
#define CUDATRACE_TRACE_SUSPECTS_H
#include <stdio.h>
#include "kernels/kernel_name.h"

struct inflight_row;
struct sticky_error;

/* Print " [...]", or a JSON array of the kernels launched since the last wait, null for NULL. */
void trace_sticky_text(FILE *f, const struct sticky_error *cause, enum kernel_style style);
void trace_sticky_json(FILE *f, const struct sticky_error *cause);

/* Write the suspects with the stacks of their launches: as lines, and of a call as a JSON array, to standard output only. */
void trace_launched_text(FILE *f, const struct sticky_error *cause, enum kernel_style style);
void trace_launched_json(FILE *f, const void *call);

/* Prints what the process of a call in flight has launched and copied since its last wait; with stacks, if it has them. */
void trace_outstanding(const struct inflight_row *row, const struct sticky_error *work, enum kernel_style style);

#endif
