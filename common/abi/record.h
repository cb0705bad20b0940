/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The head of every record in a ring buffer, and the records of process events. */
#ifndef ABI_RECORD_H
#define ABI_RECORD_H
#include <stdbool.h>

/* Values of record.kind that are not the tool's own: for call stacks, which struct syms takes, and events
 * of a process as a whole. */
enum { RECORD_STACK = 0xfffb, RECORD_CODE, RECORD_FORK, RECORD_EXEC, RECORD_EXIT };

struct record {
	unsigned int pid;	/* RECORD_FORK: the child's */
	unsigned short kind;
	unsigned short frames;	/* of the call stack in the record */
};

/* Sent by bpf/lib/processes.bpf.h. */
struct process_event {
	struct record head;
	unsigned long long time;	/* CLOCK_MONOTONIC, ns */
	unsigned long long program;	/* one execution of a program in a process: when it was
					 * first seen, ns.  RECORD_EXEC: the replaced one. */
	unsigned long long parent_program;	/* RECORD_FORK */
	unsigned int parent;		/* the parent's pid: RECORD_FORK */
	char comm[16];			/* of the thread; RECORD_FORK: the parent's */
	unsigned int unused;
};

/* Return true if the record is about call stacks: it comes before those that need it. */
static inline bool record_is_for_stacks(const struct record *r)
{
	return r->kind == RECORD_STACK || r->kind == RECORD_CODE;
}

/* Return true if the record describes a process, not a call. */
static inline bool record_is_process_event(const struct record *r)
{
	return r->kind >= RECORD_FORK;
}

/* Return true if all of it is there: a process event, or head bytes of the tool's own and the call stack after them.  What
 * a program has written itself (abi/agent_inject.h) may be anything. */
static inline bool record_is_whole(const struct record *r, unsigned long long size, unsigned long long head)
{
	return record_is_process_event(r) ? size >= sizeof(struct process_event) : size >= head + r->frames * 8ull;
}

#endif
