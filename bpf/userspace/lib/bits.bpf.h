/* SPDX-License-Identifier: GPL-2.0 */
/* As bpf/lib/bits.bpf.h, by the processor's own instruction. */
#ifndef BITS_BPF_H
#define BITS_BPF_H
#include <linux/types.h>

static inline __attribute__((always_inline)) __u32 highest_bit(__u64 v)
{
	return 63 - __builtin_clzll(v | 1);
}

#endif
