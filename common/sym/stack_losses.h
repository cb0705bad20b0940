/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* How many call stacks were taken that have notes instead of frames. */
#ifndef STACK_LOSSES_H
#define STACK_LOSSES_H

struct stack_frame;

struct stack_losses {		/* starts zeroed */
	unsigned long long stacks;	/* with a note; the others count notes */
	unsigned long long truncated, no_rules, unreadable, lost, python;
};

/* Returns the notes in the frames, as bits 1 << enum frame_note. */
unsigned stack_notes(const struct stack_frame *frames, int n);

/* Counts a stack with these notes. */
void stack_losses_add(struct stack_losses *l, unsigned notes);

/* Warns on standard error, if there are any; l may be NULL. */
void stack_losses_warn(const struct stack_losses *l);

#endif
