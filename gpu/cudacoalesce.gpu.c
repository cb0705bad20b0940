// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudacoalesce's probe: how many lines of 128 bytes, and sectors of 32, the lanes of a warp touch in an access.  A
 * lane's access is aligned to its size, so it is in one line, and, up to 32 bytes, in one sector. */
#include "gpulib/gpu.h"

GPU_USES(slots);

/* Called when a warp enters a function: returns true if it is to be measured. */
gpu_u32 gpu_chosen(void)
{
	return gpu_warp_chosen();
}

/* Returns the number of different values in these converged lanes. */
static inline gpu_u32 distinct(gpu_u32 lanes, gpu_u64 value)
{
	gpu_u32 same, firsts;

	__asm__ volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(same) : "l"(value), "r"(lanes));
	__asm__ volatile("{\n\t"
		".reg .pred %%first;\n\t"
		"setp.eq.u32 %%first, %1, 0;\n\t"
		"vote.sync.ballot.b32 %0, %%first, %2;\n\t"
		"}" : "=r"(firsts) : "r"(same & gpu_lanemask_lt()), "r"(lanes));
	return (gpu_u32)__builtin_popcount(firsts);
}

/* Called by the lanes before an access; addr is generic and differs between them, bytes is the size of each lane's access. */
void gpu_before(gpu_u32 site, gpu_u64 addr, gpu_u32 bytes)
{
	gpu_u32 lanes = gpu_activemask();
	gpu_u32 lines = distinct(lanes, addr / 128), sectors = distinct(lanes, addr / 32);

	if (!gpu_leader())	/* once for converged lanes */
		return;
	gpu_count(site, gpu_lines_bucket(lines), 1);
	gpu_count(site, GPU_LINES, lines);
	gpu_count(site, GPU_SECTORS, sectors);
	gpu_count(site, GPU_REQUESTED, (gpu_u64)__builtin_popcount(lanes) * bytes);
}
