/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The privileges that the kernel requires for tracing, and why it may have refused. */
#ifndef PROC_PRIVILEGES_H
#define PROC_PRIVILEGES_H
#include <stdbool.h>

enum privilege {
	PRIVILEGE_BPF,		/* to load and attach: CAP_BPF and CAP_PERFMON */
	PRIVILEGE_EVENTS,	/* perf events of every process: CAP_PERFMON */
	PRIVILEGE_UPROBES,	/* perf events of uprobes, --attach perf: CAP_SYS_ADMIN */
	PRIVILEGE_PTRACE,	/* other users' processes: CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH */
	PRIVILEGE_MEMORY,	/* to read their memory: CAP_SYS_PTRACE; Yama may forbid it all the same */
	PRIVILEGE_CHECKPOINT,	/* to open files that processes map: CAP_CHECKPOINT_RESTORE */
	PRIVILEGE_SETUID,	/* to become another user: CAP_SETUID, CAP_SETGID */
};

bool privilege_lacks(enum privilege what);

/* Returns the likely reason and the remedy, as the end of a sentence: which capabilities are
 * missing, or what blocks them: a user namespace, Yama, a seccomp filter.  The caller frees it. */
char *privilege_missing(enum privilege what);

/* Return true if Yama lets us read the memory of our own user's processes only if they name us (PR_SET_PTRACER) or are our
 * descendants: kernel.yama.ptrace_scope is 1. */
bool privilege_needs_leave(void);

/* Returns the likely reason why the memory of our own user's process cannot be read; the caller frees it. */
char *privilege_own_memory(void);

/* Return true if a thread of the process has a seccomp filter, or if it has too many threads to say. */
bool proc_has_filter(int pid);

#endif
