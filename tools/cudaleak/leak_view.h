/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What cudaleak prints of a process. */
#ifndef LEAK_VIEW_H
#define LEAK_VIEW_H
#include "cudaleak/leak.h"

struct leak_view {
	struct leak_options options;
	long top;		/* so many groups; not in folded output, which has all */
	bool totals;		/* no call stacks */
	bool folded;		/* a line a stack, for flame graphs */
	bool filtered;		/* some allocations are not recorded: their frees say nothing */
};

/* To be called once the options are known. */
void leak_view_init(const struct leak_view *v);

/* Prints what one process holds; at is "interval" or "exit". */
void leak_view_holder(const struct leak_view *v, const struct mem_process *h, const char *at);

#endif
