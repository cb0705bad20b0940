// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudamemtime: a record of each access; a kernel's own site has its warps, from their beginning to their end. */
#include "gpulib/gpu.h"

GPU_USES(rings);

gpu_u32 gpu_chosen(void)
{
	return gpu_warp_chosen() && __cuprobe_ctl.limit;
}

/* Pairs of clocks at the beginning and the end of blocks convert each SM's clock to ns. */
void gpu_entry(gpu_u32 site)
{
	(void)site;
	if (gpu_leader() && !gpu_warp())
		gpu_record_clocks();
}

void gpu_timed(gpu_u32 site, gpu_u64 t0, gpu_u64 t1)
{
	if (gpu_leader())
		gpu_record(site, t0, gpu_cycles(t0, t1));
}

void gpu_exit(gpu_u32 site, gpu_u64 t0, gpu_u64 t1)
{
	if (!gpu_leader())
		return;
	gpu_record(site, t0, gpu_cycles(t0, t1));
	if (!gpu_warp())
		gpu_record_clocks();
}
