/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The Python frames of a thread, read from outside while it sleeps or runs: as bpf/lib/python.bpf.h reads those of the
 * calling thread.  A thread that runs meanwhile may have frames that do not belong together. */
#ifndef PYTHON_WALK_H
#define PYTHON_WALK_H
#include <stdbool.h>
#include <stddef.h>
#include "abi/python_frames.h"

struct helper_pool;

/* Frames of abi/python_frames.h, the newest first; the last one may be a note.  There is at least one: the note
 * PYTHON_NO_FRAMES. */
struct walk_frames {
	unsigned n;
	unsigned long long frame[STACK_PYTHON + 1];
};

/* Takes the record of a code object; its number, from 1 on, is that of the frames of this walk. */
typedef void walk_code_fn(void *ctx, const struct python_code_record *r, size_t size);

/* Reads the memory of the process; false if any of it cannot be read. */
typedef bool walk_read_fn(void *ctx, unsigned long long at, void *bytes, size_t size);

/* A thread, and what to walk it with. */
struct walk {
	struct python_process process;	/* of layout_choose(), with the address of _PyRuntime */
	unsigned long long self;	/* the thread pointer of the thread: machine/thread.h */
	int pid;
	walk_read_fn *read;
	walk_code_fn *code;
	void *ctx;
};

/* Walks it.  The memory is untrusted: takes a bounded number of steps, whatever is there. */
void walk_thread(const struct walk *w, struct walk_frames *to);

/* Does so by a helper process: w without read.  Returns 0, or the error of helper_call(). */
int walk_process(struct helper_pool *helpers, const struct walk *w, struct walk_frames *to);

#endif
