/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runtime: launches, and the three ways a kernel is named: by its stub, by the
 * handle that __cudaGetKernel gives for it, by the driver's function.
 */
#include "rt.h"
#include "rt_register.h"
#include "tests/sim_runtime.h"

#define TRACE_LAUNCH "0x%lx %u %u %u %u %u %u", P(func), \
	grid.x, grid.y, grid.z, block.x, block.y, block.z

static cudaError_t configuration(dim3 grid, dim3 block)
{
	if (!grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z ||
	    (size_t)block.x * block.y * block.z > 1024)
		return cudaErrorInvalidConfiguration;
	return cudaSuccess;
}

RT_PTSZ(cudaLaunchKernel,
	(const void *func, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream),
	(func, grid, block, args, shared, stream), TRACE_LAUNCH)
{
	CUfunction f;
	cudaError_t r;

	RT_ENTER();
	r = rt_function(func, &f);
	if (!r)
		r = configuration(grid, block);
	if (r)
		return r;
	return (cudaError_t)D->cuLaunchKernel(f, grid.x, grid.y, grid.z, block.x, block.y, block.z,
					      (unsigned)shared, stream, args, NULL);
}

RT_PTSZ(cudaLaunchCooperativeKernel,
	(const void *func, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream),
	(func, grid, block, args, shared, stream), TRACE_LAUNCH)
{
	CUfunction f;
	cudaError_t r;

	RT_ENTER();
	r = rt_function(func, &f);
	if (!r)
		r = configuration(grid, block);
	if (r)
		return r;
	return (cudaError_t)D->cuLaunchCooperativeKernel(f, grid.x, grid.y, grid.z,
		block.x, block.y, block.z, (unsigned)shared, stream, args);
}

RT_PTSZ(cudaLaunchKernelExC, (const cudaLaunchConfig_t *c, const void *func, void **args),
	(c, func, args), "0x%lx %u %u %u %u %u %u", P(func),
	c ? c->gridDim.x : 0, c ? c->gridDim.y : 0, c ? c->gridDim.z : 0,
	c ? c->blockDim.x : 0, c ? c->blockDim.y : 0, c ? c->blockDim.z : 0)
{
	CUlaunchConfig config = { 0 };
	CUfunction f;
	cudaError_t r;

	RT_ENTER();
	if (!c)
		return cudaErrorInvalidValue;
	r = rt_function(func, &f);
	if (!r)
		r = configuration(c->gridDim, c->blockDim);
	if (r)
		return r;
	config.gridDimX = c->gridDim.x;
	config.gridDimY = c->gridDim.y;
	config.gridDimZ = c->gridDim.z;
	config.blockDimX = c->blockDim.x;
	config.blockDimY = c->blockDim.y;
	config.blockDimZ = c->blockDim.z;
	config.sharedMemBytes = (unsigned)c->dynamicSmemBytes;
	config.hStream = c->stream;
	config.attrs = (CUlaunchAttribute *)c->attrs;
	config.numAttrs = c->numAttrs;
	return (cudaError_t)D->cuLaunchKernelEx(&config, f, args, NULL);
}

#if SIM_CUDART >= 13
/* A jump to the public function, as in NVIDIA's. */
#ifdef RT_STATIC
#define VISIBILITY(name) ".hidden " #name "\n"
#else
#define VISIBILITY(name)
#endif
JUMP(__cudaLaunchKernel, cudaLaunchKernel);
JUMP(__cudaLaunchKernel_ptsz, cudaLaunchKernel_ptsz);

RT_EXPORTED cudaError_t __cudaGetKernel(cudaKernel_t *handle, const void *stub)
{
	cudaError_t r = handle ? rt_enter() : cudaErrorInvalidValue;

	/* So that the handle of a program without a driver is its stub. */
	if (handle)
		*handle = (cudaKernel_t)(uintptr_t)stub;
	return rt_done(r ? r : rt_handle(stub, handle));
}

RT_QUIET(cudaGetKernel)(cudaKernel_t *handle, const void *stub)
{
	cudaError_t r = handle ? rt_enter() : cudaErrorInvalidValue;

	return rt_done(r ? r : rt_handle(stub, handle));
}
#endif
