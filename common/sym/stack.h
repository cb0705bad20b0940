/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A call stack as names, which syms.h takes. */
#ifndef STACK_H
#define STACK_H
#include <stdbool.h>

struct stack;

/* The name, demangled, of the frame's function, counted from the caller; NULL if it is not
 * known.  Good until the next name is.  Returns false if there is no such frame. */
bool stack_frame(const struct stack *s, int i, const char **name);

/* Prints it in text, a line a frame, indented; as a JSON array of {sym, off, file}; or for
 * flame graphs as "outer;…;inner".  NULL is a stack that could not be taken. */
void stack_text(const struct stack *s);
void stack_json(const struct stack *s);
void stack_folded(const struct stack *s);

/* A name in such a line: what has a meaning there is replaced. */
void stack_folded_name(const char *s);

#endif
