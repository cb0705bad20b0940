/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the kernel wants before it lets a process trace, and why it may have refused. */
#ifndef PRIVILEGES_H
#define PRIVILEGES_H
#include <stdbool.h>

enum privilege {
	PRIVILEGE_BPF,		/* to load and attach: CAP_BPF and CAP_PERFMON */
	PRIVILEGE_EVENTS,	/* perf events of every process: CAP_PERFMON */
	PRIVILEGE_UPROBES,	/* perf events of uprobes, --attach perf: CAP_SYS_ADMIN */
	PRIVILEGE_PTRACE,	/* into other users' processes: CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH */
	PRIVILEGE_CHECKPOINT,	/* to open what processes have mapped: CAP_CHECKPOINT_RESTORE */
};

bool privilege_lacks(enum privilege what);

/* The reason as far as it can be told, and what to do, as the end of a sentence: which
 * capabilities are missing, or what stands in their way: a user namespace, a seccomp filter.
 * The caller's to free(). */
char *privilege_missing(enum privilege what);

#endif
