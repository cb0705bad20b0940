/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef SYM_DEMANGLE_H
#define SYM_DEMANGLE_H

#include <stddef.h>

enum { DEMANGLER_TEXT = 4096 };

/* 0 at first.  For one thread; see base/cpu_limit.h. */
struct demangler {
	int late;		/* symbols that took too long */
	/* of the symbol at hand */
	const char *symbol;
	int options;
	const char *result;
	size_t len;
	char text[DEMANGLER_TEXT];
};

/* Return a C++ symbol as it is written in the source; the symbol itself if it is none, if its
 * text would be longer than 4 KiB (a few hundred bytes can stand for gigabytes), or if it takes
 * more than 20 ms to make; after fifty of those, any symbol of more than 128 bytes.  The text is
 * the demangler's, good until the next call. */
const char *demangle(struct demangler *d, const char *symbol);

/* The same without a function's parameters and return type: "fill<int>". */
const char *demangle_brief(struct demangler *d, const char *symbol);

#endif
