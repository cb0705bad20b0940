/* SPDX-License-Identifier: GPL-2.0 */
/* The user's call stack. */
#ifndef STACK_BPF_H
#define STACK_BPF_H
#include "lib/python.bpf.h"
#include "lib/user.bpf.h"
#include "abi/stack_frames.h"

const volatile struct stack_config stack_config SEC(".rodata.stack");

/* By frame pointers.  At an entry the kernel (told to skip 1, the function itself) leaves out the
 * caller if the probe is not at the function's first instruction. */
static __always_inline __u32 stack_by_pointers(void *ctx, __u64 *frames, __u64 entry)
{
	long n;

	if (!entry) {
		n = bpf_get_stack(ctx, frames, STACK_NATIVE * 8, BPF_F_USER_STACK);
		return n > 0 && n <= STACK_NATIVE * 8 ? (__u64)n / 8 : 0;
	}
	n = bpf_get_stack(ctx, frames + 1, (STACK_NATIVE - 1) * 8, BPF_F_USER_STACK | 1);
	frames[0] = read_u64(entry);
	if (n > 0 && frames[1] == frames[0])
		frames[0] = 0;
	return n > 0 && n < STACK_NATIVE * 8 ? (__u64)n / 8 + 1 : 1;
}

/* Reads the call stack from the caller of the traced function on into frames[STACK_FRAMES]; entry is
 * the stack pointer at the function's entry, 0 at its return.  Returns the number of frames, at most
 * STACK_FRAMES.  A first frame of 0 means none. */
static __always_inline __u32 stack_take(struct pt_regs *ctx, __u64 *frames, __u64 entry)
{
	__u32 n = stack_by_pointers(ctx, frames, entry);

	if (stack_config.python)
		n = python_take(frames, n);
	return n;
}

/* The size of n frames; the verifier must see that the value used is the one checked. */
static __always_inline __u64 stack_bytes(__u32 n)
{
	__u64 bytes = n * 8ull;

	barrier_var(bytes);
	if (bytes > STACK_FRAMES * 8)
		bytes = 0;
	barrier_var(bytes);	/* not before what is added to it */
	return bytes;
}

#endif
