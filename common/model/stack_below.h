/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The line of the program's own code that most of something is below, where it splits into many call stacks. */
#ifndef MODEL_STACK_BELOW_H
#define MODEL_STACK_BELOW_H
#include <stddef.h>

struct stack;

struct stack_part {
	const struct stack *stack;	/* NULL: without one */
	unsigned long long value;
};

struct stack_below {
	char *frame;		/* as stack_lines() has it; the caller frees it; NULL: there is none */
	double share;		/* of the parts' sum that is below it */
};

/* Finds the innermost frame that four fifths of the sum have in common, of the first 4096 parts.  Frames of installed libraries and packages are not the
 * program's own; the outermost of its own frames says nothing. */
struct stack_below stack_below(const struct stack_part *parts, size_t n);

#endif
