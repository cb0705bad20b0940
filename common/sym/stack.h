/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Prints the call stacks of syms.h by name. */
#ifndef STACK_H
#define STACK_H
#include <stdbool.h>

struct stack;

/* Sets *name to the demangled name of the function of frame i, counted from the caller; NULL if it
 * is unknown.  Valid until the next name is demangled.  Return false if there is no such frame. */
bool stack_frame(const struct stack *s, int i, const char **name);

/* Print the stack as text, one indented line per frame; as a JSON array of {sym, off, file}; or for
 * flame graphs as "outer;…;inner".  NULL means that no stack could be taken. */
void stack_text(const struct stack *s);
void stack_json(const struct stack *s);
void stack_folded(const struct stack *s);

/* Prints a name for such a line, replacing the separators in it. */
void stack_folded_name(const char *s);

#endif
