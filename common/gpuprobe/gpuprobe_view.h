/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Common output of GPU probe tools: sites, and notes at the end. */
#ifndef GPUPROBE_GPUPROBE_VIEW_H
#define GPUPROBE_GPUPROBE_VIEW_H
#include <stdbool.h>
#include <stdio.h>
#include "gpuprobe/gpuprobe_modules.h"

/* Writes "file:line", without folders, or "-"; returns the columns. */
int gpuprobe_site_place(FILE *f, const struct site *site);

/* Prints "space kind, op". */
void gpuprobe_site_op(const struct site *site);

/* Prints the end of a line: "kernel: op", and ", file:line" if that is known. */
void gpuprobe_site_where(const char *kernel, const struct site *site);

/* Prints on standard error which images were not measured, and losses; as JSON also an object per status, type "images".
 * left: processes still running (gpuprobe/gpuprobe_run.h); verbose: also the images that were measured. */
void gpuprobe_notes(const struct gpuprobe_modules *m, unsigned left, bool verbose);

#endif
