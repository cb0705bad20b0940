/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The processes that used CUDA before tracing began: what they did until then is unknown. */
#ifndef EARLY_H
#define EARLY_H
#include <stdbool.h>
#include "base/hash.h"
#include "proc/proc.h"

struct early_process {
	int pid;
	struct proc_identity is;
	UT_hash_handle hh;
};

/* Starts zeroed. */
struct early {
	struct early_process *processes;
	char since[16];		/* when tracing began: out_clock() */
};

/* Call when tracing begins. */
void early_begin(struct early *e);

/* Return true if all that was done since they started is known of the process or, of 0, of all those that
 * exist: "complete" in JSON.  early is a struct early *, so that models can call it. */
bool early_complete(const void *early, int pid);

/* Prints "; ALLOCATIONS before TIME are unknown", the end of a line about such processes. */
void early_text(const struct early *e, const char *allocations);

/* Prints the line at the head of a report: "[TIME]", none, which says that there is nothing or is empty, and
 * early_text() if there are such processes. */
void early_head(const struct early *e, const char *none, const char *allocations);

/* Adds a process that has mapped CUDA files, or may have; nothing happens if it is known. */
void early_add(struct early *e, int pid);

/* Return true if it is such a process, and runs the same program.  One that has ended is taken for the one that
 * had its id. */
bool early_has(const struct early *e, int pid);

/* Call when a process has ended, or exec has replaced its program. */
void early_drop(struct early *e, int pid);

/* Drops those that have ended, or run another program. */
void early_tidy(struct early *e);

void early_free(struct early *e);

#endif
