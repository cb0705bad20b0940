/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The kernels that were measured, by the names that they have in machine code.  Starts zeroed. */
#ifndef KERNELS_H
#define KERNELS_H
#include "base/hash.h"
#include "sym/demangle.h"

struct kernel {
	char *symbol, *name;	/* mangled; as in the source */
	unsigned long long cycles;	/* what is sorted by; the user's */
	UT_hash_handle hh;
};

struct kernels {
	struct kernel *by_symbol;
	struct demangler demangler;
	size_t bytes;		/* of demangled names; beyond 64 MiB they stay mangled */
};

/* Returns the kernel, which lives as long as the rest. */
struct kernel *kernels_get(struct kernels *all, const char *symbol);

/* Return true if one of the globs of -K, num bytes, each ended by 0, matches one of a kernel's names: as in
 * the source, without parameters, or mangled.  No globs match all. */
bool kernels_match(struct kernels *all, const char *symbol, const char *globs, size_t num);

void kernels_free(struct kernels *all);

#endif
