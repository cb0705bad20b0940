/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* One frame of a stack as it is shown.  Private to stack.c. */
#ifndef FRAME_VIEW_H
#define FRAME_VIEW_H

struct frame_view;
struct stack_frame;

/* Fills the view; see stack_view(). */
void frame_view(const struct stack_frame *frame, struct frame_view *view);

#endif
