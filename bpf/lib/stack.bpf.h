/* SPDX-License-Identifier: GPL-2.0 */
/* The user's call stack. */
#ifndef LIB_STACK_BPF_H
#define LIB_STACK_BPF_H
#include "lib/python.bpf.h"
#include "lib/unwind.bpf.h"

/* Values from the stack must not look like frames of another kind. */
GLOBAL_SUBPROG int stack_mask(union stack_buffer *stack, __u32 n)
{
	if (!stack)
		return 0;
	for (__u32 i = 0; i < STACK_NATIVE; i++) {
		if (i >= n)
			break;
		stack->frames[i] &= FRAME_VALUE_MASK;
	}
	return 0;
}

/* By frame pointers; a note ends them if the kernel fails.  At an entry the kernel (asked to skip 1, the function itself)
 * leaves out the caller if the probe is not at the function's first instruction. */
static __always_inline __u32 stack_by_pointers(void *ctx, __u64 *frames, __u64 entry)
{
	long n;

	if (!entry) {
		n = bpf_get_stack(ctx, frames, STACK_NATIVE * 8, BPF_F_USER_STACK);
		n = n > 0 && n <= STACK_NATIVE * 8 ? (__u64)n / 8 : 0;
		stack_mask((void *)frames, n);
		if (!n)
			frames[n++] = FRAME_NOTE_OF(NOTE_UNREADABLE, 0);
		return n;
	}
	n = bpf_get_stack(ctx, frames + 1, (STACK_NATIVE - 1) * 8, BPF_F_USER_STACK | 1);
	frames[0] = ENTRY_RETURN_ADDRESS((const machine_regs *)ctx, entry, read_u64);
	if (n > 0 && frames[1] == frames[0])
		frames[0] = 0;
	if (n < 0) {
		frames[0] &= FRAME_VALUE_MASK;
		frames[1] = FRAME_NOTE_OF(NOTE_UNREADABLE, 0);
		return 2;
	}
	n = n > 0 && n < STACK_NATIVE * 8 ? (__u64)n / 8 + 1 : 1;
	stack_mask((void *)frames, n);
	return n;
}

static __always_inline __u32 stack_native(struct pt_regs *ctx, __u64 *frames, __u64 entry)
{
	struct unwind_start start;

	if (!stack_config.native)
		return 0;
	if (!stack_config.dwarf)
		return stack_by_pointers(ctx, frames, entry);
	unwind_begin(&start, (const machine_regs *)ctx, entry);
	return unwind(&start, (void *)frames);
}

/* Reads the call stack from the caller of the traced function on into frames[STACK_FRAMES]; entry is
 * the stack pointer at the function's entry, 0 at its return.  Returns the number of frames, at most
 * STACK_FRAMES.  A first frame of 0 means none. */
static __always_inline __u32 stack_take(struct pt_regs *ctx, __u64 *frames, __u64 entry)
{
	__u32 n = stack_native(ctx, frames, entry);

	if (stack_config.python)
		n = python_take(frames, n, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return n;
}

/* The same from where the thread is in user mode, with these registers; ctx: the program's.  Allocates nothing. */
static __always_inline __u32 stack_take_user(void *ctx, const machine_regs *regs, __u64 *frames)
{
	struct unwind_start start;
	__u32 n = 0;

	if (stack_config.native && !stack_config.dwarf) {
		n = stack_by_pointers(ctx, frames, 0);
	} else if (stack_config.native) {
		unwind_begin(&start, regs, 0);
		n = unwind(&start, (void *)frames);
	}
	if (stack_config.python)
		n = python_take(frames, n, 0);
	return n;
}

/* Hashes n frames; not 0. */
GLOBAL_SUBPROG __u64 stack_hash(const union stack_buffer *stack, __u32 n)
{
	__u64 h = 0xcbf29ce484222325;

	if (!stack)
		return 1;
	for (__u32 i = 0; i < STACK_FRAMES; i++) {
		if (i >= n)
			break;
		h = (h ^ stack->frames[i]) * 0x100000001b3;
		h ^= h >> 29;
	}
	return h ?: 1;
}

/* The size of n frames. */
static __always_inline __u64 stack_bytes(__u32 n)
{
	return bounded(n * 8ull, STACK_FRAMES * 8);
}

#endif
