/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* arm64's system calls. */
#ifndef MACHINE_SYSCALLS_H
#define MACHINE_SYSCALLS_H
#include <linux/audit.h>
#include <stdbool.h>
#include <sys/syscall.h>

/* For seccomp filters. */
#define MACHINE_AUDIT AUDIT_ARCH_AARCH64

/* Return true if the C library's epoll_wait() or epoll_pwait() makes the call. */
static inline bool machine_epoll_wait(long call)
{
	return call == SYS_epoll_pwait;
}

#endif
