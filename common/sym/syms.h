/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Names for user call stacks.  A process's mappings are read, and the mapped files opened, while it
 * lives, so that its stacks still have names when it is gone; symbols are read when something is
 * printed. */
#ifndef SYM_SYMS_H
#define SYM_SYMS_H
#include <stdbool.h>
#include <stddef.h>

struct helper_pool;
struct module;
struct stack;
struct stack_config;
struct stack_losses;
struct syms;

/* helpers must outlive it, as must losses, which count its incomplete stacks, or are NULL. */
struct syms *syms_new(struct helper_pool *helpers, const struct stack_config *config, struct stack_losses *losses);

/* Call when the tool's programs are loaded: opens their maps for unwinding, if they have them.  NULL: for
 * stacks that are copied elsewhere, with the frames of syms_python(). */
struct bpf_object;
void syms_open(struct syms *s, const struct bpf_object *obj);

/* Call before the first stack is printed: native frames have their source lines and inlined functions. */
struct lines;
void syms_show_lines(struct syms *s);

/* Returns them; NULL without syms_show_lines(). */
struct lines *syms_lines(const struct syms *s);

/* Returns the looks that it uses; NULL for NULL. */
struct helper_pool *syms_looks(const struct syms *s);

/* Closes the files and frees stacks and symbols, so call it last. */
void syms_free(struct syms *s);

/* Records the process's current mappings.  Cheap if nothing is new. */
void syms_refresh(struct syms *s, int pid);

/* Call when a process has a new mapping: it is read when it is needed. */
void syms_changed(struct syms *s, int pid);

/* Call regularly: reads the symbols that the stacks so far will need, a file at a time. */
void syms_tick(struct syms *s);

/* Calls fn for each process that was read and not forgotten. */
void syms_each(const struct syms *s, void (*fn)(void *ctx, int pid), void *ctx);

/* Call when the process ended or exec replaced its program. */
void syms_forget(struct syms *s, int pid);

/* Takes a record for which record_is_for_stacks() returns true. */
void syms_record(struct syms *s, const void *data, size_t size);

/* For syms_open(s, NULL): reads the Python frames of a thread, whose thread pointer this is, from the process into
 * frames[STACK_PYTHON + 1], the last one perhaps a note; returns how many.  They are those of one stack_get(), after
 * the native ones, and valid until the next call.  0 if the process runs no Python, or it is not configured. */
int syms_python(struct syms *s, int pid, unsigned long long self, unsigned long long *frames);

/* The same for the goroutine of a thread of a program of Go, into frames[STACK_NATIVE + 1]: between the native ones and Python's. */
int syms_goroutine(struct syms *s, int pid, unsigned long long self, unsigned long long *frames);

/* Returns the stack of n frames (abi/stack_frames.h) taken in this process, of which the first is
 * skipped if it is 0, or stack_missing(); NULL if none was taken: n is 0. */
const struct stack *stack_get(struct syms *s, int pid, const unsigned long long *frames, int n);

/* Returns the symbol of the function that begins at this address in a process; NULL if none
 * does. */
const char *syms_function(struct syms *s, int pid, unsigned long long addr);

/* Calls fn with the name and address of each 8-byte variable in the process's files whose symbol
 * ends with end, which must always be the same. */
typedef void syms_variable_fn(void *ctx, const char *name, unsigned long long addr);
void syms_variables(struct syms *s, int pid, const char *end, syms_variable_fn *fn, void *ctx);

/* Returns the address at which the process has mapped this offset of a file's code; 0 if it has not. */
unsigned long long syms_address(struct syms *s, int pid, const struct module *m, unsigned long long offset);

#endif
