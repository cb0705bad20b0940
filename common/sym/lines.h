/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Source lines and inlined functions of native code, from debug information: in the file, or in its separate
 * debug file (see debug_file.h). */
#ifndef SYM_LINES_H
#define SYM_LINES_H
#include <stdbool.h>

struct lines;
struct helper_pool;
struct module;

struct source_line {
	const char *function;	/* linkage name if there is one, else the name; NULL: unknown */
	const char *file;	/* with its directory, as the compiler got it; NULL: unknown */
	int line;		/* 0: unknown */
	bool inlined;		/* the function, at the line in the next one */
};

/* Other looks than those of looks are made, with more memory, but they follow them in when to end and whom to
 * call meanwhile; looks must outlive it. */
struct lines *lines_new(struct helper_pool *helpers);

/* Frees everything that lines_at() returned. */
void lines_free(struct lines *l);

/* Sets *lines to what is at this file offset, from the innermost inlined function outwards to the function itself,
 * and returns their number; 0 if there is no debug information, or not in time.  They live as long as l; so must m,
 * by a reference.  The first call for a file may take up to a second, while the looks' idle() is called; the first
 * in each of its compilation units about a millisecond; a repeated one a microsecond. */
int lines_at(struct lines *l, struct module *m, unsigned long long offset, const struct source_line **lines);

#endif
