/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* User call stacks by name.  A process's mappings are looked at, and the files in them
 * opened, while it lives, so that its stacks have names when it is gone; symbols are read
 * when something is printed. */
#ifndef SYMS_H
#define SYMS_H

/* One call stack, from the caller of the traced function outwards.  The same stack is the
 * same pointer, in whatever process; it lives as long as the tool. */
struct stack;

/* Without this the functions here do nothing and stack_get() returns NULL. */
void syms_init(void);

/* Notes what the process has mapped now.  Cheap when nothing is new. */
void syms_look(int pid);

/* The process ended, or exec replaced its program. */
void syms_forget(int pid);

/* The stack of n return addresses taken in this process. */
const struct stack *stack_get(int pid, const unsigned long long *addrs, int n);

/* Prints it in text, a line a frame, indented; as a JSON array of {sym, off, file}; or for
 * flame graphs as "outer;…;inner".  NULL is an unknown stack. */
void stack_text(const struct stack *s);
void stack_json(const struct stack *s);
void stack_folded(const struct stack *s);

#endif
