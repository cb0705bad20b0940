/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: a launch that is ready to run, now or as a node of a graph. */
#ifndef TESTS_SIM_DRV_LAUNCH_H
#define TESTS_SIM_DRV_LAUNCH_H

#include "drv_module.h"

struct launch {
	CUfunction function;
	unsigned grid[3], block[3], cluster[3];
	size_t shared;
	bool cooperative;
};

struct grid_work {
	struct launch launch;
	size_t size;			/* of all this */
	unsigned char params[];		/* as the kernel has them */
};

/* Checks a launch and copies its parameters; *work is to be freed.  With SIM_KERNELS only. */
HIDDEN CUresult grid_work_new(struct grid_work **work, const struct launch *launch, void **params, void **extra);
HIDDEN CUresult grid_work_run(void *work);

#endif
