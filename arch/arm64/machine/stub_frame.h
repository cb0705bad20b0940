/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Stack of a function's stub while a program of the tool runs, or the function's return is awaited:
 * arch/arm64/inject/stub.S. */
#ifndef MACHINE_STUB_FRAME_H
#define MACHINE_STUB_FRAME_H
#include <linux/ptrace.h>
#include <linux/types.h>

struct stub_frame {
	struct user_pt_regs regs;	/* as the function was entered, except x9 to x17; pstate: why the return is awaited */
	__u64 stub, mark;		/* mark: see INJECT_STUB_MAGIC */
	__u64 frame_pointer, return_address;	/* the caller's: a frame record */
};

enum {
	STUB_MARK = 24,			/* the mark is so far below the stack pointer at the entry */
};

/* Why the return is awaited, for the library. */
static inline __attribute__((always_inline)) __u64 *stub_why(struct stub_frame *f)
{
	return &f->regs.pstate;
}

/* Makes the registers those at the return; the result is there, as all arguments except the first. */
static inline __attribute__((always_inline)) void stub_returned(struct stub_frame *f)
{
	f->regs.pc = f->return_address;
}

#endif
