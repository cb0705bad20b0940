/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Processes that have mapped something and are to be looked into.  A program makes many mappings
 * at once, and each look at a process is at all of them. */
#ifndef PENDING_H
#define PENDING_H
#include <stdbool.h>

struct pending_process {
	int pid;		/* 0: some process, it is not known which */
	bool waits;
	unsigned long long next;	/* not to be looked into before, ns */
};

/* Starts zeroed. */
struct pending {
	struct pending_process *processes;
	int n;
};

void pending_add(struct pending *p, int pid);

/* Calls look(ctx, pid) for each that waits, unless the last look was so long that the process would
 * have more than a fifth of our time. */
void pending_handle(struct pending *p, void (*look)(void *ctx, int pid), void *ctx);

void pending_free(struct pending *p);

#endif
