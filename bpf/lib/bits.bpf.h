/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BITS_BPF_H
#define BITS_BPF_H
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

/* The number of the highest bit set; also 0 for 0. */
static __always_inline __u32 highest_bit(__u64 v)
{
	__u32 n = 0;

	for (int step = 32; step; step >>= 1)
		if (v >> step) {
			v >>= step;
			n += step;
		}
	return n;
}

#endif
