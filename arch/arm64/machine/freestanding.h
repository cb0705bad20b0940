/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* arm64 for code in traced programs, which may not call the C library: its instructions, and the kernel's code there. */
#ifndef MACHINE_FREESTANDING_H
#define MACHINE_FREESTANDING_H
#include <linux/types.h>

/* vdso(7) */
#define VDSO_CLOCK_GETTIME "__kernel_clock_gettime"

/* A system call.  Returns what the kernel does: -errno if it fails. */
static inline long sys6(long n, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = n, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
}

/* In the thread control block, which is at the end of the stack of a thread (variant I: pthread_self() is below it). */
static inline __attribute__((always_inline)) __u64 thread_pointer(void)
{
	__u64 self;

	__asm__("mrs %0, tpidr_el0" : "=r"(self));
	return self;
}

/* Adds to a word that only this thread changes, or reads and then changes.  Atomic, so that a thread that is stopped here writes
 * back nothing old; in no order with other words, so that it waits for none. */
static inline __attribute__((always_inline)) void add_own(__u64 *at, __u64 n)
{
	__atomic_fetch_add(at, n, __ATOMIC_RELAXED);
}

/* In a loop that waits for another thread. */
static inline void spin_pause(void)
{
	__asm__ volatile("yield");
}

/* Asks for the cache line of an address, which need not be mapped, to be written soon. */
static inline void prefetch_write(const void *at)
{
	__builtin_prefetch(at, 1);
}

/* memcpy() and memset(), for large sizes: two words at a time. */
static inline void copy_large(void *to, const void *from, unsigned long n)
{
	__u64 a, b;

	for (; n >= 16; n -= 16)
		__asm__ volatile("ldp %0, %1, [%3], #16\n"
				 "stp %0, %1, [%2], #16" : "=&r"(a), "=&r"(b), "+r"(to), "+r"(from) : : "memory");
	for (; n; n--)
		__asm__ volatile("ldrb %w0, [%2], #1\n"
				 "strb %w0, [%1], #1" : "=&r"(a), "+r"(to), "+r"(from) : : "memory");
}

static inline void fill_large(void *to, int byte, unsigned long n)
{
	__u64 word = (unsigned char)byte * 0x0101010101010101ULL;

	for (; n >= 16; n -= 16)
		__asm__ volatile("stp %1, %1, [%0], #16" : "+r"(to) : "r"(word) : "memory");
	for (; n; n--)
		__asm__ volatile("strb %w1, [%0], #1" : "+r"(to) : "r"(word) : "memory");
}

#endif
