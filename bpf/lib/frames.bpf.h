/* SPDX-License-Identifier: GPL-2.0 */
/* A thread's calls in flight whose returns are probed: a stack of frames, each identified by the stack pointer at its
 * entry.  The tool has an array of FRAMES for its own data. */
#ifndef LIB_FRAMES_BPF_H
#define LIB_FRAMES_BPF_H
#include "lib/task.bpf.h"
#include "machine/regs.bpf.h"
#include "lib/lost.bpf.h"

/* A tool may define it before. */
#ifndef FRAMES
#define FRAMES 8
#endif

struct frames {
	__u32 used;
	__u64 sp[FRAMES];
};

NOINLINE_IN_USER void frames_drop(struct frames *f, __u64 sp)
{
#pragma clang loop unroll(disable)
	for (int i = 0; i < FRAMES; i++) {
		__u32 top = f->used - 1;

		if (top >= FRAMES)
			break;
		/* the same stack: that function ended with a jump to this one */
		if (sp <= f->sp[top] && is_armed(f->sp[top]))
			break;
		lose(LOST_RETURN);
		f->used = top;
	}
}

/* Drops the frames of calls that never returned. */
static __always_inline void frames_drop_dead(struct frames *f, __u64 sp)
{
	if (f->used)
		frames_drop(f, sp);
}

/* Adds a frame and returns its number; FRAMES if there is no room.  Call after
 * frames_drop_dead(). */
static __always_inline __u64 frames_push(struct frames *f, __u64 sp)
{
	__u64 used = f->used;

	if (used >= FRAMES)
		return FRAMES;
	used = bounded(used, FRAMES - 1);
	f->sp[used] = sp;
	f->used = used + 1;
	return used;
}

/* Return true at the return of one of the calls. */
static __always_inline bool frames_end(struct pt_regs *ctx, const struct frames *f)
{
	__u64 sp = PT_REGS_SP(ctx) - CALL_POPS;
	bool ends = false;

	if (!f->used)
		return false;
	for (__u32 i = 0; i < FRAMES; i++)
		ends |= i < f->used && f->sp[i] == sp;
	return ends;
}

/* Pops the frame that returns here, and those above it, which never did.  Returns its number;
 * FRAMES if there is none. */
static __always_inline __u64 frames_pop(struct frames *f, struct pt_regs *ctx)
{
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < FRAMES; i++) {
		__u64 top = (__u32)(f->used - 1 - i);

		if (top >= FRAMES)
			break;
		top = bounded(top, FRAMES - 1);
		if (f->sp[top] + CALL_POPS != PT_REGS_SP(ctx))
			continue;
		f->used = top;
		if (i)
			lose_some(LOST_RETURN, i);
		return top;
	}
	return FRAMES;
}

#endif
