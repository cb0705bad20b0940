/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What cudaleak prints about a process. */
#ifndef LEAK_VIEW_H
#define LEAK_VIEW_H
#include "cudaleak/leak_row.h"

/* Call when tracing begins. */
void leak_view_start(struct leak_view *view);

/* Remembers what is held now, at options.now, for a later report to show growth since this one. */
void leak_view_mark(struct leak_view *view, struct memory *memory, enum mem_snapshot mark);

/* Prints what one process holds, or how it grew; at is "interval", "end" or "exit". */
void leak_view_process(const struct leak_view *view, const struct mem_process *process,
		       const char *at);

#endif
