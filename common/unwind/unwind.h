/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Unwinds copies of stacks by the unwind information of the code, and gives the BPF programs the rules
 * that let them unwind the next one themselves: see abi/stack_unwind.h. */
#ifndef UNWIND_UNWIND_H
#define UNWIND_UNWIND_H
#include <stdbool.h>
#include <stddef.h>
#include "abi/stack_unwind.h"

struct bpf_object;
struct cfi;
struct unwinder;

/* Kind of code at an address. */
struct unwind_code {
	const struct cfi *cfi;		/* NULL: it has no unwind information */
	unsigned long long offset;	/* in the file, for cfi_step() */
	bool in_file;
	bool is_go;			/* in a file with Go code, which is what has no unwind information in it */
	bool sure;			/* not: the file could not be read in time, so ask again */
};

/* Finds the code at an address in the process that a stack is of. */
typedef void unwind_find_fn(void *ctx, int pid, unsigned long long addr, struct unwind_code *code);

/* Opens the maps of bpf/lib/unwind.bpf.h in a loaded object; NULL with errno set if that fails.  Without
 * an object it gives no rules.  The functions below accept NULL. */
struct unwinder *unwinder_new(const struct bpf_object *obj, unwind_find_fn *find, void *ctx);
void unwinder_free(struct unwinder *u);

/* Unwinds a copy and keeps the frames for unwinder_frames(); user as in struct quota. */
void unwinder_copy(struct unwinder *u, const struct stack_copy *copy, size_t size, unsigned user);

/* Returns the frames of copy id (abi/stack_frames.h), and sets *n; NULL if there are none.  Valid until
 * the next copy is unwound. */
const unsigned long long *unwinder_frames(const struct unwinder *u, unsigned long long id, int *n);

/* Call when the process has ended.  */
void unwinder_forget(struct unwinder *u, int pid);

/* Call when its mappings have changed. */
void unwinder_changed(struct unwinder *u, int pid);

/* Call when the process is found to run a program of Go: the frames of its goroutines are read from now on. */
struct elf_go;
void unwinder_go(struct unwinder *u, int pid, unsigned user, const struct elf_go *go);

/* Returns why Go frames are lost: the value of a note NOTE_GO_LOST; static storage. */
const char *unwinder_go_loss(unsigned long long value);

#endif
