/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The source lines and inlined functions of native frames.  Private to stack.c. */
#ifndef STACK_LINES_H
#define STACK_LINES_H
#include "sym/frame_view.h"
#include "sym/lines.h"

struct stack;
struct stack_frame;

/* What is known of one frame.  Without --lines, everything is 0. */
struct frame_lines {
	const struct source_line *inlined;	/* from the innermost outwards */
	int n;
	const struct source_line *own;	/* in the function that they are inlined into; NULL: unknown */
	bool wanted;
};

struct frame_lines frame_lines(const struct stack *s, const struct stack_frame *f);

/* Fills the view as frame_view() does, with the source line, for inlined function i, or if i is n, for the frame
 * itself. */
void frame_lines_view(const struct frame_lines *l, int i, const struct stack_frame *f, struct frame_view *v);

#endif
