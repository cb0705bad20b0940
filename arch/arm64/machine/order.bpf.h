/* SPDX-License-Identifier: GPL-2.0 */
/* The order in which CPUs see each other's reads and writes, on arm64. */
#ifndef MACHINE_ORDER_BPF_H
#define MACHINE_ORDER_BPF_H
#include <bpf/bpf_helpers.h>

/* Writes before it are seen before writes after it, reads before it are made before reads after it.  BPF has no fence, and
 * atomic loads and stores since Linux 6.15; but an atomic operation that returns a value is a full barrier
 * (Documentation/bpf/standardization/instruction-set.rst, Documentation/atomic_t.txt). */
#define ordered()								\
do {										\
	volatile __u64 any = 0;							\
										\
	barrier();								\
	(void)__sync_lock_test_and_set(&any, 1);				\
	barrier();								\
} while (0)

/* Writes the word with ordered() on both sides.  It needs no stack, of which programs have little. */
#define write_ordered(at, value)						\
do {										\
	barrier();								\
	(void)__sync_lock_test_and_set((volatile __u64 *)(at), value);		\
	barrier();								\
} while (0)

#endif
