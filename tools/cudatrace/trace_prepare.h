/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* From cudatrace's options to the functions that are probed. */
#ifndef TRACE_PREPARE_H
#define TRACE_PREPARE_H

struct trace;

/* Completes the options, chooses the functions and sets what the probes do for each.  Exits 2 if
 * the options cannot be combined.  From then on *t must not move. */
void trace_prepare(struct trace *t);

#endif
