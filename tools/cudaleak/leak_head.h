/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What a report says of a process besides its groups. */
#ifndef LEAK_HEAD_H
#define LEAK_HEAD_H
#include "cudaleak/leak_row.h"

/* Prints the time and the process, up to what is said of it. */
void leak_head(const struct leak_view *view, const struct mem_process *process, const char *at);

/* Prints how much of the memory on devices that the process holds is held for tensors: a line of text or a row of
 * JSON. */
void leak_segments(const struct leak_view *view, const struct mem_process *process, const char *at);

/* Prints what is uncertain about the process, as lines of text or rows of JSON. */
void leak_doubts(const struct leak_view *view, const struct mem_process *process, const char *at);

#endif
