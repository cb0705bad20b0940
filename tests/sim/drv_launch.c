/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: launches. Without SIM_KERNELS kernels do nothing. */
#include <stdlib.h>
#include <string.h>

#include "drv_launch.h"

static struct sim_activity activity_of(const struct launch *l)
{
	struct sim_activity a = { .kind = SIM_KERNEL, .function = l->function, .shared = (uint32_t)l->shared };

	memcpy(a.grid, l->grid, sizeof(a.grid));
	memcpy(a.block, l->block, sizeof(a.block));
	return a;
}

static CUresult run(const struct launch *l, const struct sim_activity *a, CUstream stream, void **params, void **extra)
{
	struct grid_work *work;
	CUresult r = grid_work_new(&work, l, params, extra);

	if (r)
		return r;
	if (!drv_capture(stream, a, grid_work_run, work, work->size)) {
		r = grid_work_run(work);
		if (!r && a)
			drv_did(a, stream);
	}
	free(work);
	return r;
}

static CUresult launch(const struct launch *l, CUstream stream, void **params, void **extra)
{
	const unsigned *g = l->grid, *b = l->block;
	struct sim_activity activity, *a = NULL;
	CUresult r = drv_check();

	if (r)
		return r;
	if (!l->function)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!g[0] || !g[1] || !g[2] || !b[0] || !b[1] || !b[2] || (size_t)b[0] * b[1] * b[2] > 1024 ||
	    g[1] > 65535 || g[2] > 65535)
		return CUDA_ERROR_INVALID_VALUE;
	if (unlikely(drv_watched(stream))) {
		activity = activity_of(l);
		a = &activity;
	}
	if (drv_kernels)
		return run(l, a, stream, params, extra);
	if (!drv_capture(stream, a, NULL, NULL, 0) && a)
		drv_did(a, stream);
	return CUDA_SUCCESS;
}

#define TRACE_LAUNCH "0x%lx %u %u %u %u %u %u", P(f), gx, gy, gz, bx, by, bz

DRV_PTSZ(cuLaunchKernel,
	 (CUfunction f, unsigned gx, unsigned gy, unsigned gz,
	  unsigned bx, unsigned by, unsigned bz,
	  unsigned shared, CUstream stream, void **params, void **extra),
	 (f, gx, gy, gz, bx, by, bz, shared, stream, params, extra), TRACE_LAUNCH)
{
	const struct launch l = { f, { gx, gy, gz }, { bx, by, bz }, { 0 }, shared, false };

	return launch(&l, stream, params, extra);
}

DRV_PTSZ(cuLaunchCooperativeKernel,
	 (CUfunction f, unsigned gx, unsigned gy, unsigned gz,
	  unsigned bx, unsigned by, unsigned bz,
	  unsigned shared, CUstream stream, void **params),
	 (f, gx, gy, gz, bx, by, bz, shared, stream, params), TRACE_LAUNCH)
{
	const struct launch l = { f, { gx, gy, gz }, { bx, by, bz }, { 0 }, shared, true };

	return launch(&l, stream, params, NULL);
}

static void attributes(struct launch *l, const CUlaunchConfig *c)
{
	enum { COOPERATIVE = 2, CLUSTER_DIMENSION = 4 };	/* of CUlaunchAttributeID */
	unsigned i;
	int value;

	for (i = 0; i < c->numAttrs; i++)
		if ((int)c->attrs[i].id == COOPERATIVE) {
			memcpy(&value, &c->attrs[i].value, sizeof(value));
			l->cooperative = value != 0;
		} else if ((int)c->attrs[i].id == CLUSTER_DIMENSION) {
			memcpy(l->cluster, &c->attrs[i].value, sizeof(l->cluster));
		}
}

DRV_PTSZ(cuLaunchKernelEx, (const CUlaunchConfig *c, CUfunction f, void **params, void **extra),
	 (c, f, params, extra), "0x%lx %u %u %u %u %u %u", P(f),
	 c ? c->gridDimX : 0, c ? c->gridDimY : 0, c ? c->gridDimZ : 0,
	 c ? c->blockDimX : 0, c ? c->blockDimY : 0, c ? c->blockDimZ : 0)
{
	struct launch l = { .function = f };

	if (!c)
		return CUDA_ERROR_INVALID_VALUE;
	l.grid[0] = c->gridDimX, l.grid[1] = c->gridDimY, l.grid[2] = c->gridDimZ;
	l.block[0] = c->blockDimX, l.block[1] = c->blockDimY, l.block[2] = c->blockDimZ;
	l.shared = c->sharedMemBytes;
	if (drv_kernels && c->attrs)
		attributes(&l, c);
	return launch(&l, c->hStream, params, extra);
}
