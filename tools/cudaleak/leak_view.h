/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What cudaleak prints about a process. */
#ifndef LEAK_VIEW_H
#define LEAK_VIEW_H
#include "cli/field.h"
#include "cudaleak/leak.h"
#include "view/device_field.h"

enum { LEAK_FIELDS = 15 };

struct leak_view {
	/* set by the tool */
	struct leak_options options;
	long top;		/* at most this many groups; folded output has all */
	bool totals;		/* no call stacks */
	bool folded;		/* one line per stack, for flame graphs */
	char since[16];		/* the time of day when tracing began */
	bool filtered;		/* some allocations are unrecorded: their frees mean nothing */
	/* state */
	struct devices_seen devices;	/* several: shown in text; the tool sets it, too */
	struct field fields[LEAK_FIELDS + 1];	/* for JSON, with a terminator */
};

/* Call once the options are known. */
void leak_view_init(struct leak_view *view);

/* Prints the end of a line about processes that used CUDA before tracing began. */
void leak_view_early(const struct leak_view *view);

/* Prints in JSON that nothing allocated since then is held by a process that used CUDA before. */
void leak_view_nothing(const struct leak_view *view, int pid, const char *comm, const char *at);

/* Prints what one process holds; at is "interval" or "exit". */
void leak_view_process(struct leak_view *view, const struct mem_process *process,
		       const char *at);

#endif
