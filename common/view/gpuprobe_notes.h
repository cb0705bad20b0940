/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What a tool that measures inside kernels says at its end, on standard error: what was not measured, and what was lost. */
#ifndef GPUPROBE_NOTES_H
#define GPUPROBE_NOTES_H
#include <stdbool.h>
#include "model/gpuprobe_modules.h"

/* left: processes that still run and were cut off (session/gpuprobe.h); verbose: also what went well. */
void gpuprobe_notes(const struct gpuprobe_modules *m, unsigned left, bool verbose);

/* Prints an object per status, type "images", as JSON. */
void gpuprobe_notes_json(const struct gpuprobe_images *images);

#endif
