/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Names of kernels; and the report: a histogram for each site, kernels with the most cycles first. */
#ifndef CUDAMEMTIME_SITE_REPORT_H
#define CUDAMEMTIME_SITE_REPORT_H
#include <stddef.h>
#include "base/hash.h"
#include "gpuprobe/gpuprobe_modules.h"
#include "sym/demangle.h"

struct kernel {
	char *symbol, *name;	/* mangled; as in the source */
	unsigned long long cycles;	/* the caller's, to sort by */
	UT_hash_handle hh;
};

/* By symbol.  Starts zeroed. */
struct kernels {
	struct kernel *by_symbol;
	struct demangler demangler;
	size_t bytes;		/* of demangled names; beyond 64 MiB they stay mangled */
};

/* Returns the kernel, valid until kernels_free(). */
struct kernel *kernels_get(struct kernels *all, const char *symbol);

/* Return true if one of the globs of -K, num bytes, each ended by 0, matches one of a kernel's names: as in
 * the source, without parameters, or mangled.  No globs match all. */
bool kernels_match(struct kernels *all, const char *symbol, const char *globs, size_t num);

void kernels_free(struct kernels *all);

/* Prints all counts so far, as text or JSON. */
void site_report(const struct gpuprobe_modules *m, struct kernels *kernels);

#endif
