/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* One frame of a call stack as it is shown. */
#ifndef SYM_FRAME_VIEW_H
#define SYM_FRAME_VIEW_H
#include <stdbool.h>
#include "sym/frames.h"

struct stack_frame;

struct frame_view {
	enum frame_kind kind;
	const char *name;	/* of the function, demangled; NULL: unknown; of a note: what it says */
	const char *symbol;	/* native: what name was demangled from; NULL: unknown or none */
	const char *file;	/* native: the mapped file; Python: the source file as Python has it; of a
				 * note: which one it is about; NULL: unknown or none */
	unsigned long long off;	/* native: from the start of the function; if its name is unknown in the
				 * file; if that is unknown too, the address.  Generated
				 * code: from the start of the function.  Of a note: the address
				 * that it is about, 0 = none.  Python: 0 */
	int line;		/* of the source; 0 = unknown; native: see stack.c */
	const char *source;	/* native: the source file, see stack.c; NULL: unknown */
	bool inlined;		/* native: into the function of the next frame; off is unknown */
	struct module *module;	/* native: the mapped file; NULL: unknown */
	unsigned long long at;	/* native: of the instruction that was executed last, the offset in the file or, if that
				 * is unknown, the address */
	char note[96];		/* what name points to */
};

/* Fills the view: what it points to is valid until the next call for a frame of the same struct syms, and
 * not in a copy.  For stack.c; others call stack_view(). */
void frame_view(const struct stack_frame *frame, struct frame_view *view);

/* Returns the build id of v->module in hexadecimal, "" if there is none or the file cannot be read now.  It lives as long
 * as the stack. */
const char *frame_build_id(const struct frame_view *v);

#endif
