/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The call stacks of syms.h by name: native and Python frames merged, and notes, which say why frames
 * are missing. */
#ifndef SYM_STACK_H
#define SYM_STACK_H
#include <stdbool.h>
#include <stdio.h>
#include "abi/stack_frames.h"
#include "sym/frame_view.h"
#include "sym/lines.h"

struct stack;
struct stack_frame;
struct syms;

/* Fills the view of frame i, counted from the caller.  Return false if there is no such frame.  What it
 * points to is valid until the next call for a stack of the same struct syms, and not in a copy. */
bool stack_view(const struct stack *s, int i, struct frame_view *view);

/* Returns the path of the file that native frame i is in, "" where it is in none that is known; NULL if there is no such frame.
 * Reads no symbols.  For stacks without Python frames. */
const char *stack_file(const struct stack *s, int i);

/* Returns one stack for all those that look the same, as interpreters' own frames are left
 * out: reports group by it.  Reads symbols.  It may change until the symbols of the interpreter have
 * been read, and lives as long as s.  NULL for NULL. */
const struct stack *stack_shown(const struct stack *s);

/* Returns its frames from native frame i on, of those before Python frames are merged into them: like the stack
 * itself, which must have more than i. */
const struct stack *stack_from(const struct stack *s, int i);

/* Returns a stack that is only the note why there is none, forever valid; counts it in s, which may
 * be NULL. */
const struct stack *stack_missing(struct syms *s, enum no_stack why);

/* Returns the reasons for which frames are missing, as stack_notes() does. */
unsigned stack_reasons(const struct stack *s);

/* Return true for such a stack, and for NULL. */
bool stack_is_missing(const struct stack *s);

/* Print the stack as text, one indented line per frame, or for flame graphs as "outer;…;inner".
 * NULL: NO_STACK_CALL. */
void stack_text(const struct stack *s);
void stack_folded(const struct stack *s);

/* Writes the lines of stack_text(), each behind indent. */
void stack_lines(FILE *file, const struct stack *s, const char *indent);

/* Calls fn for each frame that would be printed, from the caller outwards: those of functions inlined into a frame come before it.  What a view
 * points to is valid until fn returns, and not in a copy. */
void stack_each(const struct stack *s, void (*fn)(void *ctx, const struct frame_view *v), void *ctx);

/* Writes a JSON array of what frame() writes of each; lines: frames are to have source lines. */
void stack_json(FILE *f, const struct stack *s,
		void (*frame)(FILE *f, const struct frame_view *v, bool lines));

/* Writes a JSON array of strings, each a line of stack_text() without its indentation. */
void stack_text_json(FILE *file, const struct stack *s);

/* Prints a name for such a line, replacing the separators in it. */
void stack_folded_name(const char *s);

#endif
