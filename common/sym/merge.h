/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Puts Python frames among the native ones, where the interpreter ran them. */
#ifndef SYM_MERGE_H
#define SYM_MERGE_H
#include <stdbool.h>

struct stack_frame;

/* Return true if this native frame is of the function that runs Python frames. */
typedef bool merge_is_eval_fn(const struct stack_frame *frame);

/* Writes the n frames of a stack, merged, to to[n]; returns how many are left, at most n.  frames: the
 * native ones from the caller outwards and a note, if they end early; then the Python frames, newest
 * first, and a note.  A native frame for which is_eval() returns true is replaced by a run of Python
 * frames: the next ones up to and including the first with FRAME_AT_ENTRY.  Other native frames of the
 * same module are left out: they are the interpreter's own.  Where the counts differ, Python frames
 * that are left follow after the native ones, and frames of is_eval() that are left remain. */
int merge_frames(const struct stack_frame *frames, int n, struct stack_frame *to,
		 merge_is_eval_fn *is_eval);

#endif
