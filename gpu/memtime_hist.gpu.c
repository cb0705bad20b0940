// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudamemtime: how long accesses take, as a histogram of each site; a kernel's own site has its warps' times. */
#include "gpulib/gpu.h"

GPU_USES(slots);

gpu_u32 gpu_chosen(void)
{
	return gpu_warp_chosen();
}

void gpu_timed(gpu_u32 site, gpu_u64 t0, gpu_u64 t1)
{
	if (gpu_leader())
		gpu_hist(site, gpu_cycles(t0, t1));
}

void gpu_exit(gpu_u32 site, gpu_u64 t0, gpu_u64 t1)
{
	if (gpu_leader())
		gpu_hist(site, gpu_cycles(t0, t1));
}
