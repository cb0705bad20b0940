/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Losses of a tool's probes, counted in lost[]; losses_print() prints them. */
#ifndef ABI_LOST_H
#define ABI_LOST_H

enum lost {
	LOST_RECORD,	/* a record: the ring buffer was full */
	LOST_THREAD,	/* a call: no memory for the thread's state */
	LOST_RETURN,	/* a call that never returned: longjmp, exception, 64 nested calls */
	LOST_READ,	/* an argument or result that could not be read */
	LOST_PROCESS,	/* a process exit: the ring buffer was full, or too many processes */
	LOST_GROUP,	/* a call: no room to count its group */
	LOST_PIECES,	/* bytes of a batch of copies that has too many pieces */
	LOST_LATE,	/* a record that was not handled: the tool was ending */
	LOST_PROC_TABLE_FULL,	/* a call: too many processes to learn of this one's end */
	LOST_ANSWER,	/* a call, with --attach inject alone: the process waits for an answer of the tool, or has had none */
	LOST_WITHDRAWN,	/* a call, with --attach inject alone: the process may not ask the tool, or has left it */
	LOST_COMPLETION,	/* an event or stream with NCCL operations: too many to follow */
	LOST_PINNED,	/* memory of the host that did not fit the table of what is pinned */
	LOST_MAX
};

/* Losses by process, in a hash map of bpf/lib/lost.bpf.h. */
enum { LOST_PROCESSES = 1024 };

struct lost_key {
	unsigned int pid, why;	/* enum lost */
};

struct lost_count {
	unsigned long long n;
	char comm[16];		/* of one of its threads */
};

#endif
