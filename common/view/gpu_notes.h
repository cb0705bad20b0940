/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What tools that measure inside kernels say at their end about what they did not measure. */
#ifndef GPU_NOTES_H
#define GPU_NOTES_H
#include "model/gpu_modules.h"

/* Prints to standard error, a line each: images that were left alone, and why; kernels that run with fewer warps;
 * modules and readings that failed; records that were lost.  `left` are processes that were cut off (struct
 * gpu_tool: close).  With verbose, also why each image was left alone. */
void gpu_notes(const struct gpu_modules *m, unsigned left, bool verbose);

#endif
