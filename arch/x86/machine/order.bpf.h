/* SPDX-License-Identifier: GPL-2.0 */
/* The order in which CPUs see each other's reads and writes, on x86-64. */
#ifndef MACHINE_ORDER_BPF_H
#define MACHINE_ORDER_BPF_H
#include <bpf/bpf_helpers.h>

/* Writes before it are seen before writes after it, reads before it are made before reads after it: so they are anyway. */
#define ordered() barrier()

/* Writes the word with ordered() on both sides. */
#define write_ordered(at, value)						\
do {										\
	barrier();								\
	*(volatile __u64 *)(at) = (value);					\
	barrier();								\
} while (0)

#endif
