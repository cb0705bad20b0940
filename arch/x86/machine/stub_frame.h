/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Stack of a function's stub while a program of the tool runs, or the function's return is awaited:
 * arch/x86/inject/stub.S. */
#ifndef MACHINE_STUB_FRAME_H
#define MACHINE_STUB_FRAME_H
#include <linux/ptrace.h>
#include <linux/types.h>

struct stub_frame {
	struct pt_regs regs;		/* as the function was entered; orig_rax: the stub, ss: why the return is awaited */
	__u64 mark;			/* see INJECT_STUB_MAGIC */
	__u64 frame_pointer, return_address;	/* the caller's */
};

enum {
	STUB_MARK = 16,			/* the mark is so far below the stack pointer at the entry */
};

/* Why the return is awaited, for the library. */
static inline __attribute__((always_inline)) unsigned long *stub_why(struct stub_frame *f)
{
	return &f->regs.ss;
}

/* Makes the registers those at the return; the result is there, as all arguments except the third. */
static inline __attribute__((always_inline)) void stub_returned(struct stub_frame *f)
{
	f->regs.rip = *(__u64 *)f->regs.rsp;
	f->regs.rsp += 8;
}

#endif
