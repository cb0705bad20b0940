/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The frames of a call stack.  Private to syms.c, stack.c, frame_view.c,
 * merge.c and stack_losses.c. */
#ifndef SYM_FRAMES_H
#define SYM_FRAMES_H
#include "base/hash.h"

enum frame_kind {
	FRAME_KIND_NATIVE,
	FRAME_KIND_PYTHON,
	FRAME_KIND_NOTE,	/* why frames are missing */
	FRAME_KIND_JIT,		/* generated code of which the program itself says the name */
};

/* Without padding, as stacks are compared by their bytes. */
struct stack_frame {
	unsigned long long kind;
	const void *what;	/* native and notes: the struct module, NULL: unknown, and at is the
				 * address; Python: the struct python_code or NULL; generated
				 * code: its name */
	unsigned long long at;	/* native: the file offset, and FRAME_EXACT; Python: the line, 0 = unknown, and bit 32:
				 * FRAME_PYTHON_ENTRY; note: the frame as in abi/stack_frames.h;
				 * generated code: the distance from the function's start */
};

#define FRAME_AT_ENTRY (1ull << 32)

struct stack {
	UT_hash_handle hh;
	struct syms *syms;
	const struct stack *shown;	/* see stack_shown(); NULL: not known yet */
	unsigned notes;			/* bits: enum stack_loss */
	int n;
	struct stack_frame frames[];
};

static inline struct module *frame_module(const struct stack_frame *f)
{
	return f->kind != FRAME_KIND_PYTHON && f->kind != FRAME_KIND_JIT ? (struct module *)f->what : 0;
}

/* Returns the stack of these frames: the one that exists, or a new one, without a quota. */
struct stack *stack_of(struct syms *s, const struct stack_frame *frames, int n);

#endif
