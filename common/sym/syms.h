/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* User call stacks by name.  A process's mappings are looked at, and the files in them
 * opened, while it lives, so that its stacks have names when it is gone; symbols are read
 * when something is printed. */
#ifndef SYMS_H
#define SYMS_H
#include <stdbool.h>

/* What is known of the processes: their mappings, the files behind them, and call stacks.  A tool
 * that needs no names has none: with NULL the functions here do nothing, and find nothing. */
struct syms;

struct syms *syms_new(void);

/* Closes the files.  Stacks and symbols are gone: to be called last. */
void syms_free(struct syms *s);

/* Notes what the process has mapped now.  Cheap when nothing is new. */
void syms_refresh(struct syms *s, int pid);

/* Calls fn with each process that was looked at, and is not forgotten. */
void syms_each(const struct syms *s, void (*fn)(void *ctx, int pid), void *ctx);

/* The process ended, or exec replaced its program. */
void syms_forget(struct syms *s, int pid);

/* One call stack, from the caller of the traced function outwards.  The same stack is the
 * same pointer, in whatever process; it lives as long as its struct syms. */
struct stack;

/* Returns the stack of n return addresses taken in this process; NULL if there are none. */
const struct stack *stack_get(struct syms *s, int pid, const unsigned long long *addrs, int n);

/* Returns the symbol of the function that begins at this address of a process; NULL if none
 * does. */
const char *syms_function(struct syms *s, int pid, unsigned long long addr);

/* Calls fn with each variable of 8 bytes in the process's files whose symbol ends so, always
 * the same end, and where it is. */
typedef void syms_variable_fn(void *ctx, const char *name, unsigned long long addr);
void syms_variables(struct syms *s, int pid, const char *end, syms_variable_fn *fn, void *ctx);

#endif
