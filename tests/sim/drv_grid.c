/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: a grid from the launch's arguments to its run. */
#include <stdlib.h>
#include <string.h>

#include "drv_launch.h"

enum { LAUNCH_OUT_OF_RESOURCES = 701, COOPERATIVE_LAUNCH_TOO_LARGE = 720, INVALID_CLUSTER_SIZE = 912 };
/* CU_LAUNCH_PARAM_*: what a pair of extra is */
enum { PARAM_END, PARAM_BUFFER_POINTER, PARAM_BUFFER_SIZE };

static CUresult check(struct launch *l, const struct interp_info *info)
{
	size_t threads = (size_t)l->block[0] * l->block[1] * l->block[2], most, blocks = 1, cluster = 1;
	int dynamic = l->function->kernel->dynamic_shared, i;

	if (threads > most_threads(info))
		return (CUresult)LAUNCH_OUT_OF_RESOURCES;
	most = dynamic ? (size_t)dynamic : info->shared < BLOCK_SHARED ? BLOCK_SHARED - info->shared : 0;
	if (l->shared > most)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < 3; i++) {
		if (!l->cluster[i])
			l->cluster[i] = info->cluster[i];
		if (l->cluster[i] && l->grid[i] % l->cluster[i])
			return CUDA_ERROR_INVALID_VALUE;
		blocks *= l->grid[i];
		cluster *= l->cluster[i] ? l->cluster[i] : 1;
	}
	if (cluster > 8)
		return (CUresult)INVALID_CLUSTER_SIZE;
	if (l->cooperative && blocks > (size_t)SMS * occupancy(info, (unsigned)threads, l->shared))
		return (CUresult)COOPERATIVE_LAUNCH_TOO_LARGE;
	return CUDA_SUCCESS;
}

/* The buffer of extra, which may be shorter than what the kernel has, but not longer. */
static CUresult from_extra(unsigned char *to, size_t room, void **extra)
{
	const void *buffer = NULL;
	size_t size = 0;
	int i;

	for (i = 0; (uintptr_t)extra[i] != PARAM_END; i += 2)
		if ((uintptr_t)extra[i] == PARAM_BUFFER_POINTER)
			buffer = extra[i + 1];
		else if ((uintptr_t)extra[i] == PARAM_BUFFER_SIZE)
			size = *(const size_t *)extra[i + 1];
		else
			return CUDA_ERROR_INVALID_VALUE;
	if (size > room || (size && !buffer))
		return CUDA_ERROR_INVALID_VALUE;
	if (size)
		memcpy(to, buffer, size);
	return CUDA_SUCCESS;
}

static CUresult copy_params(unsigned char *to, const struct interp_info *info, void **params, void **extra)
{
	unsigned i;

	if (params && extra)
		return CUDA_ERROR_INVALID_VALUE;
	if (extra)
		return from_extra(to, info->param_size, extra);
	if (!params && info->num_params)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < info->num_params; i++) {
		if (!params[i])
			return CUDA_ERROR_INVALID_VALUE;
		memcpy(to + info->params[i].offset, params[i], info->params[i].size);
	}
	return CUDA_SUCCESS;
}

CUresult grid_work_new(struct grid_work **work, const struct launch *launch, void **params, void **extra)
{
	struct interp_kernel *code;
	struct interp_info info;
	struct grid_work *w;
	CUresult r;

	r = kernel_code(launch->function->kernel, &code);
	if (r)
		return r;
	drv_kernels->info(code, &info);
	w = calloc(1, sizeof(*w) + info.param_size);
	if (!w)
		return CUDA_ERROR_OUT_OF_MEMORY;
	w->launch = *launch;
	w->size = sizeof(*w) + info.param_size;
	r = check(&w->launch, &info);
	if (!r)
		r = copy_params(w->params, &info, params, extra);
	if (r)
		free(w);
	else
		*work = w;
	return r;
}

CUresult grid_work_run(void *work)
{
	struct grid_work *w = work;
	struct interp_grid grid = {
		.shared = w->launch.shared, .cooperative = w->launch.cooperative, .sms = SMS,
	};
	struct interp_kernel *code;
	CUresult r = kernel_code(w->launch.function->kernel, &code);

	if (r)
		return r;
	memcpy(grid.grid, w->launch.grid, sizeof(grid.grid));
	memcpy(grid.block, w->launch.block, sizeof(grid.block));
	memcpy(grid.cluster, w->launch.cluster, sizeof(grid.cluster));
	return drv_run(code, &grid, w->params);
}
