/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Stops a process of -p that executes a program in another thread than its first, by ptrace(2),
 * until it has new links: see probe/bindings.h.  Unlike SIGSTOP its parent does not see that, and
 * if the helper ends, the kernel lets the process go on. */
#ifndef PROBE_EXEC_STOP_H
#define PROBE_EXEC_STOP_H

struct helper_pool;

enum exec_stop {
	EXEC_STOP_NONE,		/* it runs: another debugger has it, or it took too long */
	EXEC_STOP_LATE,		/* it may have made calls */
	EXEC_STOP_FIRST,	/* before any of the new program's own code */
};

/* Call while thread tid of process pid executes a program, or soon after. */
enum exec_stop exec_stop(struct helper_pool *l, int pid, int tid);

/* Call once if that has not returned EXEC_STOP_NONE. */
void exec_continue(struct helper_pool *l, int pid);

#endif
