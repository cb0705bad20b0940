/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The functions that -e selects. */
#ifndef TRACE_SELECT_H
#define TRACE_SELECT_H

struct trace;

/* How a function is selected. */
enum trace_selected {
	TRACE_UNASKED,
	TRACE_WANTED,
	TRACE_UNWANTED,		/* a runtime function, removed by its name: the driver calls it
				 * makes are not wanted either */
};

/* Returns the i-th word that can be selected by: groups, all, default, functions; NULL at the end. */
const char *trace_select_word(int i);

/* Reads "[trace=][!]WORD[,[!]WORD]...".  A word is a group of cuda_protos.h, all, default, a
 * function, or a pattern of functions with * and ?.  A function stands for all of its versions:
 * cuMemAlloc for cuMemAlloc_v2.  A word after ! is removed.  If the first one is, all are, as in
 * strace, starting from the default.  NULL: the default.  Returns an enum trace_selected for each
 * of cuda_protos[]; the caller frees it.  Exits 2 if a word is none of these. */
unsigned char *trace_select(const char *expression);

/* Completes the options, chooses the functions and sets what the probes do for each.  Exits 2 if
 * the options cannot be combined.  From then on *t must not move. */
void trace_prepare(struct trace *t);

#endif
