/* SPDX-License-Identifier: GPL-2.0 */
/* Which kernel an address stands for, while programs unload kernels and load others at their
 * addresses: a call that names a kernel at an address begins a new generation of launches there.
 * Such a call returns before the kernel can be launched, so each launch counts in its own generation,
 * whenever the tool reads the record of the call.
 *
 * To look up the generation at each launch would cost half as much as to count it.  So addresses share
 * generations by hash: a new one for one address is a new one for a few others too, which only makes
 * another count of their kernels. */
#ifndef LAUNCH_GENERATIONS_BPF_H
#define LAUNCH_GENERATIONS_BPF_H
#include "lib/task.bpf.h"

enum { GENERATION_BITS = 16 };

static struct generation {
	__u32 n;
	__u32 named;		/* a hash of the last naming, or 0: the same again changes nothing */
} generations[1 << GENERATION_BITS];

static __always_inline __u64 generation_hash(__u64 a, __u64 b)
{
	a = (a ^ b) * 0x9e3779b97f4a7c15;
	return a ^ a >> 32;
}

static __always_inline struct generation *generation_of(__u64 program, __u64 func)
{
	__u64 at = (func ^ program) * 0x9e3779b97f4a7c15 >> (64 - GENERATION_BITS);

	barrier_var(at);	/* the verifier must see that the value used is the one masked */
	return &generations[at & ((1 << GENERATION_BITS) - 1)];
}

/* Call where func is named, before it can be launched.  meaning is a hash of what it is named; 0:
 * unknown.  Returns its generation from now on. */
static __always_inline __u32 generation_named(__u64 program, __u64 func, __u64 meaning)
{
	struct generation *g = generation_of(program, func);
	__u32 named = generation_hash(generation_hash(func, program), meaning);

	named = meaning ? named ?: 1 : 0;
	if (!named || g->named != named)
		__sync_fetch_and_add(&g->n, 1);
	g->named = named;
	return g->n;
}

#endif
