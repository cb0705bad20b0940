/* SPDX-License-Identifier: GPL-2.0 */
/* The calls that a thread is in, of those whose returns are wanted: a stack of frames, each told
 * by the stack pointer at its entry.  What is kept of frame i is the tool's own, in an array of
 * FRAMES elements. */
#ifndef FRAMES_BPF_H
#define FRAMES_BPF_H
#include "lib/user.bpf.h"

/* A tool may define it before. */
#ifndef FRAMES
#define FRAMES 8
#endif

struct frames {
	__u32 used;
	__u64 sp[FRAMES];
};

/* Takes out the frames of calls that never returned. */
static __always_inline void frames_drop_dead(struct frames *f, __u64 sp)
{
#pragma clang loop unroll(disable)
	for (int i = 0; i < FRAMES; i++) {
		__u32 top = f->used - 1;

		if (top >= FRAMES)
			break;
		/* the same stack: that function jumped to this one at its end */
		if (sp <= f->sp[top] && is_armed(f->sp[top]))
			break;
		lose(LOST_RETURN);
		f->used = top;
	}
}

/* The number of a new frame; FRAMES if there is no room.  To be called after
 * frames_drop_dead(). */
static __always_inline __u64 frames_push(struct frames *f, __u64 sp)
{
	__u64 used = f->used;

	barrier_var(used);	/* the verifier wants the value that is used to be the one checked */
	if (used >= FRAMES)
		return FRAMES;
	f->sp[used] = sp;
	f->used = used + 1;
	return used;
}

/* Takes out the frame that returns here, and those above it, which never did: its number; FRAMES
 * if there is none. */
static __always_inline __u64 frames_pop(struct frames *f, struct pt_regs *ctx)
{
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < FRAMES; i++) {
		__u64 top = (__u32)(f->used - 1 - i);

		barrier_var(top);
		if (top >= FRAMES)
			break;
		/* the return has popped the return address */
		if (f->sp[top] + 8 != PT_REGS_SP(ctx))
			continue;
		f->used = top;
		__sync_fetch_and_add(&lost[LOST_RETURN], i);
		return top;
	}
	return FRAMES;
}

#endif
