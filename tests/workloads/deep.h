/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A chain of ten functions that the compiler leaves as it is. */
#ifndef TESTS_WORKLOADS_DEEP_H
#define TESTS_WORKLOADS_DEEP_H

#ifdef __cplusplus
#define DEEP_C extern "C"
#else
#define DEEP_C
#endif
#define KEPT __attribute__((noinline))
#define LINK(name, next) \
	DEEP_C KEPT int name(size_t size) \
	{ \
		int ret = next(size); \
		__asm__ volatile("" ::: "memory"); \
		return ret; \
	}
#define CHAIN(innermost) \
	LINK(leak_10, innermost) LINK(leak_9, leak_10) LINK(leak_8, leak_9) \
	LINK(leak_7, leak_8) LINK(leak_6, leak_7) LINK(leak_5, leak_6) \
	LINK(leak_4, leak_5) LINK(leak_3, leak_4) LINK(leak_2, leak_3) LINK(leak_1, leak_2)

#endif
