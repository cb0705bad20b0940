/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Records of accesses: their launches, their times on the clock that all SMs of a device share, and the two files with
 * them. */
#ifndef CUDAMEMTIME_ACCESSES_H
#define CUDAMEMTIME_ACCESSES_H
#include <stdio.h>
#include "cudamemtime/site_report.h"
#include "gpuprobe/gpuprobe_modules.h"
#include "view/chrome.h"

struct gpu_access {
	const struct gpuprobe_module *module;
	struct gpu_record record;
	unsigned long long start_ns, end_ns;	/* %globaltimer; NO_VALUE: unknown */
	unsigned launch;	/* from 1: a process's launches, by context and order */
};

/* Returns all accesses, sorted by process and start; the caller frees them. */
struct gpu_access *gpu_accesses(struct gpuprobe_modules *m, size_t *n);

/* Sets the sums of modules from their records, for probes that do not count. */
void gpu_accesses_count(struct gpuprobe_modules *m);

/* Writes comma-separated values, RFC 4180, and closes the file.  On a write error warns and returns false. */
bool csv_write(FILE *f, const char *path, const struct gpu_access *accesses, size_t n, struct kernels *kernels);

/* Draws the accesses that have times as a timeline (view/chrome.h) from 0: an SM is a process, a warp slot a thread. */
void gantt_draw(struct chrome *c, const struct gpu_access *accesses, size_t n, struct kernels *kernels);

#endif
