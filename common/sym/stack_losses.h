/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* How many call stacks were taken that have notes instead of frames, and why. */
#ifndef SYM_STACK_LOSSES_H
#define SYM_STACK_LOSSES_H
#include <stdio.h>
#include "abi/python_frames.h"
#include "abi/stack_frames.h"

struct stack_frame;

/* The reasons that are counted. */
enum stack_loss {
	LOSS_TRUNCATED,
	LOSS_RULES,
	LOSS_UNREADABLE,
	LOSS_RING_BUFFER,
	LOSS_PYTHON,				/* and enum python_loss */
	LOSS_GO = LOSS_PYTHON + PYTHON_LOSSES,	/* and enum go_loss */
	LOSS_STACK = LOSS_GO + GO_LOSSES,	/* and enum no_stack */
	STACK_LOSSES = LOSS_STACK + NO_STACKS
};

struct stack_losses {		/* starts zeroed */
	unsigned long long stacks;	/* with a reason, or several */
	unsigned long long by[STACK_LOSSES];
};

/* Returns the reasons in the frames, as bits 1 << enum stack_loss. */
unsigned stack_notes(const struct stack_frame *frames, int n);

/* Counts a stack with these reasons; l may be NULL. */
void stack_losses_add(struct stack_losses *l, unsigned notes);

/* Warns on standard error, if there are any. */
void stack_losses_warn(const struct stack_losses *l);

/* Writes a JSON object of the reasons that have a count; of: a struct stack_losses. */
void stack_losses_json(FILE *f, const void *of);

/* Returns why there is no stack: the value of a note NOTE_NO_STACK. */
const char *no_stack_text(unsigned long long value);

#endif
