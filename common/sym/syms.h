/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* User call stacks by name.  A process's mappings are looked at, and the files in them
 * opened, while it lives, so that its stacks have names when it is gone; symbols are read
 * when something is printed. */
#ifndef SYMS_H
#define SYMS_H
#include <stdbool.h>

/* One call stack, from the caller of the traced function outwards.  The same stack is the
 * same pointer, in whatever process; it lives as long as the tool. */
struct stack;

/* Without this the functions here do nothing and stack_get() returns NULL. */
void syms_init(void);

/* Notes what the process has mapped now.  Cheap when nothing is new. */
void syms_refresh(int pid);

/* Calls fn with each process that was looked at, and is not forgotten. */
void syms_each(void (*fn)(int pid));

/* The process ended, or exec replaced its program. */
void syms_forget(int pid);

/* The stack of n return addresses taken in this process. */
const struct stack *stack_get(int pid, const unsigned long long *addrs, int n);

/* The name, demangled, of the frame's function, counted from the caller; NULL if it is not
 * known.  False if there is no such frame. */
bool stack_frame(const struct stack *s, int i, const char **name);

/* The symbol of the function that begins at this address of a process; NULL if none does. */
const char *syms_function(int pid, unsigned long long addr);

/* Calls fn with each variable of 8 bytes in the process's files whose symbol ends so, always
 * the same end, and where it is. */
typedef void syms_variable_fn(void *ctx, const char *name, unsigned long long addr);
void syms_variables(int pid, const char *end, syms_variable_fn *fn, void *ctx);

/* Prints it in text, a line a frame, indented; as a JSON array of {sym, off, file}; or for
 * flame graphs as "outer;…;inner".  NULL is an unknown stack. */
void stack_text(const struct stack *s);
void stack_json(const struct stack *s);
void stack_folded(const struct stack *s);

/* A name in such a line: what has a meaning there is replaced. */
void stack_folded_name(const char *s);

#endif
