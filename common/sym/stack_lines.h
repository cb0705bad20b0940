/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Prints the source lines and inlined functions of native frames.  Private to stack.c. */
#ifndef STACK_LINES_H
#define STACK_LINES_H
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

/* Returns the demangled name of inlined function i; valid until the next name is demangled. */
const char *inlined_name(const struct frame_lines *l, int i, const struct stack_frame *f);

/* Print the inlined functions, each as a frame of its own: as lines; as JSON objects, each with a comma after it. */
void inlined_text(const struct frame_lines *l, const struct stack_frame *f);
void inlined_json(const struct frame_lines *l, const struct stack_frame *f);

/* Print " at FILE:LINE", the file without its directory, and ,"source":…,"line":… */
void source_text(const struct source_line *line);
void source_json(const struct source_line *line);

#endif
