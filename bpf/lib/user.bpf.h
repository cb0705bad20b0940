/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the traced program's memory. */
#ifndef USER_BPF_H
#define USER_BPF_H
#include "lib/lost.bpf.h"

/* A word of the program's memory; 0, and counted as lost, if it cannot be read. */
static __always_inline __u64 read_u64(__u64 at)
{
	__u64 v = 0;

	if (bpf_probe_read_user(&v, sizeof(v), (void *)at))
		lose(LOST_READ);
	return v;
}

static __always_inline __u32 read_u32(__u64 at)
{
	__u32 v = 0;

	if (bpf_probe_read_user(&v, sizeof(v), (void *)at))
		lose(LOST_READ);
	return v;
}

#endif
