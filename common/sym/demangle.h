/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef SYM_DEMANGLE_H
#define SYM_DEMANGLE_H

#include <stddef.h>

enum { DEMANGLER_TEXT = 4096 };

/* Starts zeroed.  For one thread; see base/cpu_limit.h. */
struct demangler {
	int late;		/* symbols that took too long */
	/* of the current symbol */
	const char *symbol;
	int options;
	const char *result;
	size_t len;
	char text[DEMANGLER_TEXT];
};

/* Returns a symbol of C++ or Rust as written in the source.  Returns the symbol itself if it is neither, if its
 * text would exceed 4 KiB (a few hundred bytes can expand to gigabytes), or if demangling it takes more than 20 ms; after more than fifty of those, any symbol longer than 128 bytes.  The
 * demangler owns the text, which is valid until the next call. */
const char *demangle(struct demangler *d, const char *symbol);

/* The same without a function's parameters and return type, and without what Numba adds to the names of
 * kernels: "fill<int>". */
const char *demangle_brief(struct demangler *d, const char *symbol);

#endif
