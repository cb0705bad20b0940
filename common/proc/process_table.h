/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The one table of the traced processes.  What is read of a process is read once, as it may not live long.  Parts that
 * keep state by pid register what drops it, so that the next process with this pid, or the next program, starts without. */
#ifndef PROC_PROCESS_TABLE_H
#define PROC_PROCESS_TABLE_H
#include <stdbool.h>
#include "base/hash.h"
#include "proc/cgroup.h"
#include "proc/proc.h"

struct process_event;
struct process_part;

struct process_entry {
	int pid;
	struct proc_identity is;	/* when it was added */
	bool preexisting;		/* it used CUDA before tracing began: what it did until then is unknown */
	bool ended;			/* kept for the next report */
	bool has_user, has_container;	/* were read: */
	unsigned user;
	char container[CONTAINER_ID];	/* "": none */
	UT_hash_handle hh;
};

struct process_table {		/* starts zeroed */
	struct process_entry *all, *last;	/* all: for HASH_ITER(hh, ...); last: that was asked about */
	bool keeps_ended;	/* set by a tool whose reports show processes that have ended: they stay until process_tidy() */
	char since[16];		/* when tracing began, of the clock: set by the session */
	struct process_part *parts;
	int nparts;
	/* Set by a part, or NULL: called before the command gets a signal, and, with killed, once that has killed it. */
	void (*on_signal)(void *ctx, bool killed);
	void *on_signal_ctx;
};

/* Has fn called for each RECORD_EXIT and RECORD_EXEC, before the tool handles the records that follow.  The order is that of
 * registration: a part that uses another one at the end of a process registers first. */
void process_on_end(struct process_table *t, void (*fn)(void *ctx, const struct process_event *event), void *ctx);

/* Call for each such record: calls the parts; then the table drops the process itself. */
void process_ended(struct process_table *t, const struct process_event *event);

/* Call at a signal for the command: see on_signal. */
void process_signalled(const struct process_table *t, bool killed);

/* Unregisters all parts. */
void process_no_parts(struct process_table *t);

/* Call when a process has mapped CUDA files: what was read of another process or program with this pid is dropped.  Reads
 * its container. */
void process_mapped(struct process_table *t, int pid);

/* Returns proc_user() of the process, as of the first call. */
unsigned process_user(struct process_table *t, int pid);

/* Returns the short id of the process's container, as of the first call; NULL if it is in none, or was gone then.
 * Valid until the process is dropped. */
const char *process_container(struct process_table *t, int pid);

/* Notes that a process used CUDA, or may have, before tracing began. */
void process_set_preexisting(struct process_table *t, int pid);

/* Return true if that is noted of the process, and it runs the same program.  One that has ended is taken for the one
 * that had its pid. */
bool process_is_preexisting(const struct process_table *t, int pid);

/* Return true if tracing covers the process, or, of 0, all processes that exist, from their start: "complete" in JSON. */
bool process_is_complete(const struct process_table *t, int pid);

/* Drops a process, for a tool that finds out about ends without records. */
void process_drop(struct process_table *t, int pid);

/* Call after each report: drops those that have ended, or run another program. */
void process_tidy(struct process_table *t);

void process_table_free(struct process_table *t);

#endif
