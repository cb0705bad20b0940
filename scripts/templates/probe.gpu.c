// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* @NAME@'s probe, which is put into the kernels of the programs that it measures.  gpulib/gpu.h has what a probe
 * may use, and what it may not do. */
#include "gpulib/gpu.h"

@!records|GPU_USES(slots);
@records|GPU_USES(rings);

/* Called when a warp enters a function: returns true if it is to be measured. */
gpu_u32 gpu_chosen(void)
{
	return gpu_warp_chosen();
}

@entry|/* Called when a warp enters a kernel, before anything else in it.  site numbers the kernels and their accesses; the
@entry| * tool knows what they are. */
@entry|void gpu_entry(gpu_u32 site)
@exit|/* Called when lanes of a warp leave a kernel; t0 and t1 are %clock64 when they entered, and now.  site numbers the
@exit| * kernels and their accesses; the tool knows what they are. */
@exit|void gpu_exit(gpu_u32 site, gpu_u64 t0, gpu_u64 t1)
@access|/* Called by the lanes that are about to access memory; addr is generic and differs between them, bytes is what each
@access| * accesses.  site numbers the places in the code; the tool knows what they are. */
@access|void gpu_before(gpu_u32 site, gpu_u64 addr, gpu_u32 bytes)
@timed|/* Called by the lanes that have accessed memory; t0 and t1 are %clock64 around the access.  site numbers the places
@timed| * in the code; the tool knows what they are. */
@timed|void gpu_timed(gpu_u32 site, gpu_u64 t0, gpu_u64 t1)
{
@entry|	gpu_u32 lanes = (gpu_u32)__builtin_popcount(gpu_activemask());
@access|	gpu_u32 lanes = (gpu_u32)__builtin_popcount(gpu_activemask());

@access|	(void)addr;
	if (!gpu_leader())	/* once for the lanes that are here together */
		return;
@hist|	gpu_hist(site, @VALUE@);
@counters|	gpu_count(site, 0, 1);
@counters|	gpu_count(site, 1, @VALUE@);
@records|	gpu_record(site, gpu_globaltimer(), @VALUE@);
}
