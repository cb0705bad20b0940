/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What every record of a ring buffer begins with, and the records of what happens to processes. */
#ifndef RECORD_H
#define RECORD_H
#include <stdbool.h>

/* In record.kind: what happened to a process as a whole.  The kinds below are the tool's own. */
enum { RECORD_FORK = 0xfffd, RECORD_EXEC, RECORD_EXIT };

struct record {
	unsigned int pid;	/* of RECORD_FORK the child's */
	unsigned short kind;
	unsigned short frames;	/* of the call stack in the record */
};

/* Sent by bpf/lib/processes.bpf.h. */
struct process_event {
	struct record head;
	unsigned long long time;	/* CLOCK_MONOTONIC, ns */
	unsigned long long program;	/* one execution of a program in a process: when it was first
					 * seen, ns.  Of RECORD_EXEC the one that was replaced. */
	unsigned long long parent_program;	/* RECORD_FORK */
	unsigned int parent;		/* its process: RECORD_FORK */
	char comm[16];			/* of the thread; of RECORD_FORK the parent's */
	unsigned int unused;
};

/* Return true if the record is of a process, not of a call. */
static inline bool record_is_process_event(const struct record *r)
{
	return r->kind >= RECORD_FORK;
}

#endif
