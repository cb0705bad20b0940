/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What a tool that measures inside kernels says at its end, on standard error: what was not measured, and what was lost. */
#ifndef GPU_NOTES_H
#define GPU_NOTES_H
#include <stdbool.h>
#include "model/gpu_modules.h"

/* left: processes that still run and were cut off (session/gpu_tool.h); verbose: also what went well. */
void gpu_notes(const struct gpu_modules *m, unsigned left, bool verbose);

/* Prints an object per status, type "images", as JSON. */
void gpu_notes_json(const struct gpu_images *images);

#endif
