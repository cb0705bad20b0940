/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* x86-64's thread pointer, and pthread_self(). */
#ifndef MACHINE_THREAD_H
#define MACHINE_THREAD_H
#include <stdbool.h>

/* Return true if a thread with this thread pointer has this pthread_self(): they are the same (System V ABI for x86-64,
 * 3.4.6: variant II). */
static inline bool thread_has_id(unsigned long long pointer, unsigned long long id)
{
	return pointer == id;
}

/* Returns where a thread-local variable of the program is from the thread pointer, by its symbol's value, and the size and alignment of
 * the segment (ELF Handling For Thread-Local Storage, 3.4.6: variant II). */
static inline long long thread_tls_offset(unsigned long long value, unsigned long long size, unsigned long long align)
{
	return value - (align > 1 ? (size + align - 1) / align * align : size);
}

#endif
