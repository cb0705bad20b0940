/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Rewrites PTX in the tool itself, with the options that the library in a program gets: for --list and --patch. */
#ifndef CUDAMEMTIME_REWRITE_FILE_H
#define CUDAMEMTIME_REWRITE_FILE_H
#include "cudamemtime/measure.h"
#include "ptx/instrument.h"
#include "ptx/probe.h"

struct rewrite {
	struct instrument options;
	struct gpu_probe probe;
	struct kernels *kernels;
	bool keep_registers;
	char *globs;		/* of -K */
	uint32_t globs_size;
};

void rewrite_init(struct rewrite *r, struct measure *m);
void rewrite_free(struct rewrite *r);

/* Return the reason why an image is left alone, before rewriting it and from the result; NULL: it is not. */
const char *rewrite_refuses(const char *text, size_t size);
const char *rewrite_why(enum instrument_result result);

/* Assembles an image without and with probes, and prints each kernel's registers, spills, stack, instructions and resident
 * warps, as text or JSON.  arch: "sm_90", or NULL: the PTX's own.  Warns if ptxas is missing or fails. */
void cost_print(struct rewrite *r, const char *text, size_t size, const char *arch, unsigned image);

#endif
