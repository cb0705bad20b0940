/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* x86-64 for code in traced programs, which may not call the C library: its instructions, and the kernel's code there. */
#ifndef MACHINE_FREESTANDING_H
#define MACHINE_FREESTANDING_H
#include <linux/types.h>

/* vdso(7) */
#define VDSO_CLOCK_GETTIME "__vdso_clock_gettime"

/* A system call.  Returns what the kernel does: -errno if it fails. */
static inline long sys6(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "0"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return r;
}

/* Thread control blocks begin with their own address (System V ABI for x86-64, 3.4.6: variant II). */
static inline __attribute__((always_inline)) __u64 thread_pointer(void)
{
	__u64 self;

	__asm__("mov %%fs:0, %0" : "=r"(self));
	return self;
}

/* Adds to a word that only this thread changes, or reads and then changes.  One instruction, so that a thread that is stopped here
 * writes back nothing old; without a lock, which takes as long as a hundred other instructions. */
static inline __attribute__((always_inline)) void add_own(__u64 *at, __u64 n)
{
	__asm__ volatile("addq %1, %0" : "+m"(*at) : "er"(n) : "cc");
}

/* In a loop that waits for another thread. */
static inline void spin_pause(void)
{
	__builtin_ia32_pause();
}

/* Asks for the cache line of an address, which need not be mapped, to be written soon. */
static inline void prefetch_write(const void *at)
{
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)at));	/* no operation where the processor lacks it */
}

/* memcpy() and memset(), for large sizes: a rep takes the processor long to begin. */
static inline void copy_large(void *to, const void *from, unsigned long n)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

static inline void fill_large(void *to, int byte, unsigned long n)
{
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(byte) : "memory");
}

#endif
