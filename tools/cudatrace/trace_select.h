/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which functions -e asks for. */
#ifndef TRACE_SELECT_H
#define TRACE_SELECT_H

/* Of a function. */
enum trace_selected {
	TRACE_UNASKED,
	TRACE_WANTED,
	TRACE_UNWANTED,		/* of the runtime, taken out by its name: what the driver is called for
				 * inside of it is not wanted either */
};

/* Reads "[trace=][!]WORD[,[!]WORD]...": a word is a group of cuda_protos.h, all, default, a
 * function, or a pattern of those with * and ?.  A function stands for all of its versions:
 * cuMemAlloc for cuMemAlloc_v2.  A word after ! is taken out; so is every one if the first is,
 * as strace has it, then from the default.  NULL: the default.  Returns an enum trace_selected for
 * each of cuda_protos[], the caller's to free().  Exits 2 if a word is none of these. */
unsigned char *trace_select(const char *expression);

#endif
