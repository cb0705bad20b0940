/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The processes that used CUDA before tracing began: what they did until then is unknown. */
#ifndef PREEXISTING_H
#define PREEXISTING_H
#include <stdbool.h>
#include "base/hash.h"
#include "proc/proc.h"

struct preexisting_process {
	int pid;
	struct proc_identity is;
	UT_hash_handle hh;
};

/* Starts zeroed. */
struct preexisting {
	struct preexisting_process *processes;
	char since[16];		/* when tracing began: out_clock() */
};

/* Call when tracing begins. */
void preexisting_begin(struct preexisting *e);

/* Return true if all that was done since they started is known of the process or, of 0, of all those that
 * exist: "complete" in JSON.  early is a struct preexisting *, so that models can call it. */
bool preexisting_complete(const void *early, int pid);

/* Prints "; ALLOCATIONS before TIME are unknown", the end of a line about such processes. */
void preexisting_text(const struct preexisting *e, const char *allocations);

/* Prints the line at the head of a report: "[TIME]", none, which says that there is nothing or is empty, and
 * preexisting_text() if there are such processes. */
void preexisting_head(const struct preexisting *e, const char *none, const char *allocations);

/* Adds a process that has mapped CUDA files, or may have; nothing happens if it is known. */
void preexisting_add(struct preexisting *e, int pid);

/* Return true if it is such a process, and runs the same program.  One that has ended is taken for the one that
 * had its id. */
bool preexisting_has(const struct preexisting *e, int pid);

/* Call when a process has ended, or exec has replaced its program. */
void preexisting_drop(struct preexisting *e, int pid);

/* Drops those that have ended, or run another program. */
void preexisting_tidy(struct preexisting *e);

void preexisting_free(struct preexisting *e);

#endif
