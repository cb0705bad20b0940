/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* arm64's thread pointer, and pthread_self(). */
#ifndef MACHINE_THREAD_H
#define MACHINE_THREAD_H
#include <stdbool.h>

/* Return true if a thread with this thread pointer has this pthread_self(), a struct just below it (ELF for the Arm 64-bit
 * Architecture, TLS variant I), of a size that only the C library knows: glibc 2.36 has 1,856 bytes, musl 200.  Other
 * threads' are further away, as each has a stack. */
enum { THREAD_STRUCT_MAX = 8192 };

static inline bool thread_has_id(unsigned long long pointer, unsigned long long id)
{
	return pointer - id - 1 < THREAD_STRUCT_MAX;
}

/* Returns where a thread-local variable of the program is from the thread pointer, by its symbol's value, and the size and alignment of
 * the segment: behind two words of the thread control block (variant I). */
static inline long long thread_tls_offset(unsigned long long value, unsigned long long size, unsigned long long align)
{
	(void)size;
	return value + (align > 16 ? align : 16);
}

#endif
