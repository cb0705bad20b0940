/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* arm64's system calls. */
#ifndef MACHINE_SYSCALLS_H
#define MACHINE_SYSCALLS_H
#include <linux/audit.h>
#include <sys/syscall.h>

/* For seccomp filters. */
#define MACHINE_AUDIT AUDIT_ARCH_AARCH64

/* What the C library's epoll_wait() calls. */
#define EPOLL_WAIT SYS_epoll_pwait

#endif
