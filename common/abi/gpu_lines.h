/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What cudacoalesce's probe counts in a site's slot, as hist[]: accesses by the lines that they touch, then sums. */
#ifndef GPU_LINES_H
#define GPU_LINES_H

enum { GPU_LINES_EXACT = 16, GPU_LINES_BUCKETS = 24 };	/* 1 to 16 lines, then 17 and 18, 19 and 20 … 31 and 32 */
enum { GPU_LINES = GPU_LINES_BUCKETS, GPU_SECTORS, GPU_REQUESTED };	/* bytes that lanes asked for */

static inline unsigned int gpu_lines_bucket(unsigned int lines)
{
	return lines <= GPU_LINES_EXACT ? lines - 1 : (lines - 1 + GPU_LINES_EXACT) / 2;
}

static inline unsigned int gpu_lines_low(unsigned int bucket)
{
	return bucket < GPU_LINES_EXACT ? bucket + 1 : 2 * bucket + 1 - GPU_LINES_EXACT;
}

#endif
