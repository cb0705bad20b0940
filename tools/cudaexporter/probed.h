/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What is probed, and what could not be. */
#ifndef PROBED_H
#define PROBED_H
#include <stdio.h>
#include "api/cuda_api.h"
#include "cudaexporter/series.h"

struct elf_probe;
struct function;

enum { PROBED_LINES = 4096, PROBED_REASONS = 32 };

struct probed {			/* starts zeroed, but for kind: how probes are attached */
	const char *kind;
	unsigned long long in[CUDA_LIB_MAX];	/* functions, by layer */
	struct probed_reason {
		const char *why;
		char *labels;
		unsigned long long n;
	} reasons[PROBED_REASONS];	/* the last one is of all that are too many */
	char *labels[CUDA_LIB_MAX];
	char **lines;		/* the last PROBED_LINES … */
	unsigned nlines;	/* … of so many */
};

/* For the callbacks of struct session. */
void probed_function(struct probed *p, const char *path, const struct function *fn, const struct elf_probe *probe,
		     const char *skipped);
void probed_file(struct probed *p, const char *path, const char *why);

/* Call in a round. */
void probed_collect(struct probed *p, struct series_table *t, struct owner *owner);

/* Writes the page of /probes: as --list prints it, the last PROBED_LINES lines. */
void probed_print(const struct probed *p, FILE *f);

void probed_free(struct probed *p);

#endif
