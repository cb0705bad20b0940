/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Rewriting in the tool itself, by the same options as the injected library: for --list and --patch. */
#ifndef REWRITE_H
#define REWRITE_H
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

/* Return why an image is left alone; NULL if it is not: before it is rewritten, and by what came of that. */
const char *rewrite_refuses(const char *text, size_t size);
const char *rewrite_why(enum instrument_result result);

#endif
