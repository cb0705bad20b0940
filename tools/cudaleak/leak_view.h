/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What cudaleak prints about a process. */
#ifndef LEAK_VIEW_H
#define LEAK_VIEW_H
#include "cli/field.h"
#include "cudaleak/leak.h"
#include "session/early.h"

enum { LEAK_FIELDS = 14 };

struct leak_view {
	/* set by the tool */
	struct leak_options options;
	long top;		/* at most this many groups; folded output has all */
	bool totals;		/* no call stacks */
	bool folded;		/* one line per stack, for flame graphs */
	const struct early *early;	/* the target's */
	bool filtered;		/* some allocations are unrecorded: their frees mean nothing */
	/* state */
	struct field fields[LEAK_FIELDS + 1];	/* for JSON, with a terminator */
};

/* Call once the options are known. */
void leak_view_init(struct leak_view *view);

/* Prints in JSON that nothing allocated since then is held by a process that used CUDA before. */
void leak_view_nothing(const struct leak_view *view, int pid, const char *comm, const char *at);

/* Prints what one process holds; at is "interval" or "exit". */
void leak_view_process(const struct leak_view *view, const struct mem_process *process,
		       const char *at);

#endif
