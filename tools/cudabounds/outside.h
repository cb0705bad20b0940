/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Accesses outside of all allocations: examples, by place. */
#ifndef OUTSIDE_H
#define OUTSIDE_H
#include "base/hash.h"
#include "model/gpuprobe_modules.h"
#include "sym/demangle.h"

/* Kept of all places. */
enum { OUTSIDE_MAX = 100000 };

/* An access of lanes of a warp; addr is one of theirs. */
struct outside {
	const struct gpuprobe_code *code;
	unsigned site, bytes, lanes, block, warp, grid;
	unsigned long long addr;
	unsigned long long low, size;	/* of the range below; 0, 0: there is none */
};

/* Starts zeroed. */
struct outsides {
	struct outside *at;
	size_t n;
	unsigned long long dropped;	/* beyond OUTSIDE_MAX, or of which a half is lost */
	struct outside_half *halves;	/* by module: the first record of two */
	struct demangler names;
};

/* Takes what a module has recorded (gpu/cudabounds.gpu.c), and drops it there; hostile. */
void outside_records(struct outsides *all, struct gpuprobe_modules *m, struct gpuprobe_module *module);

/* Prints the places where something was outside, those with the most lanes first, with at most `examples` each; or
 * that there are none, and how many accesses were checked. */
void outside_report(struct outsides *all, const struct gpuprobe_modules *m, size_t examples);

void outside_free(struct outsides *all);

#endif
