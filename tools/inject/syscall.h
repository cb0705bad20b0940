/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* System calls, without the C library: errno stays the program's. */
#ifndef INJECT_SYSCALL_H
#define INJECT_SYSCALL_H
#include <asm/unistd.h>

/* Returns what the kernel does: -errno if it fails. */
static inline long sys6(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "0"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return r;
}

static inline long sys4(long n, long a, long b, long c, long d)
{
	return sys6(n, a, b, c, d, 0, 0);
}

static inline long sys3(long n, long a, long b, long c)
{
	return sys6(n, a, b, c, 0, 0, 0);
}

/* Return true if this is what a system call that maps memory returns when it fails. */
static inline int sys_failed(long r)
{
	return (unsigned long)r > -4096ul;
}

#endif
