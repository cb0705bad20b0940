/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The processes of a session: what happens at their ends, and which used CUDA before. */
#ifndef SESSION_PROCESS_H
#define SESSION_PROCESS_H
#include <stdbool.h>
#include "base/hash.h"
#include "proc/proc.h"

struct process_event;
struct process_part;

/* The one place where the end of a process, or of the program that it runs, is handled: parts that keep state by pid
 * register what drops it, so that the next process with this pid, or the next program, starts without.  Starts zeroed. */
struct process_ends {
	struct process_part *parts;
	int n;
};

/* Has fn called for each RECORD_EXIT and RECORD_EXEC, before the tool handles the records that follow.  The order is that of
 * registration: a part that uses another one at the end of a process registers first. */
void process_on_end(struct process_ends *ends, void (*fn)(void *ctx, const struct process_event *event), void *ctx);

/* Call for each such record. */
void process_ended(const struct process_ends *ends, const struct process_event *event);

void process_ends_free(struct process_ends *ends);

/* A process that used CUDA before tracing began: what it did until then is unknown. */
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

/* Return true if tracing covers the process, or, of 0, all processes that exist, from their start: "complete" in JSON.
 * preexisting is a struct preexisting *, so that models can call it. */
bool preexisting_complete(const void *preexisting, int pid);

/* Prints "; ALLOCATIONS before TIME are unknown", the end of a line about such processes. */
void preexisting_text(const struct preexisting *e, const char *allocations);

/* Prints the line at the head of a report: "[TIME]", none, which reports that there is nothing or is empty, and
 * preexisting_text() if there are such processes. */
void preexisting_head(const struct preexisting *e, const char *none, const char *allocations);

/* Adds a process that has mapped CUDA files, or may have; nothing happens if it was added before. */
void preexisting_add(struct preexisting *e, int pid);

/* Return true if it is such a process, and runs the same program.  One that has ended is taken for the one that
 * had its pid. */
bool preexisting_has(const struct preexisting *e, int pid);

/* Call when a process has ended, or exec has replaced its program. */
void preexisting_drop(struct preexisting *e, int pid);

/* Drops those that have ended, or run another program. */
void preexisting_tidy(struct preexisting *e);

void preexisting_free(struct preexisting *e);

#endif
