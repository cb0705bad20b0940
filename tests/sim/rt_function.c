/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runtime: attributes of kernels, occupancy. */
#include "rt.h"
#include "rt_register.h"

static CUresult get(CUfunction f, int which, int *value)
{
	pt_none;

	return D->cuFuncGetAttribute(value, (CUfunction_attribute)which, f);
}

RT(cudaFuncGetAttributes, (struct cudaFuncAttributes *a, const void *func), (a, func),
   "0x%lx", P(func))
{
	int shared = 0, constants = 0, local = 0;
	CUfunction f;
	CUresult r;

	RT_ENTER();
	r = a ? (CUresult)rt_function(func, &f) : CUDA_ERROR_INVALID_VALUE;
	if (r)
		return (cudaError_t)r;
	*a = (struct cudaFuncAttributes) { 0 };
	if ((r = get(f, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &shared)) ||
	    (r = get(f, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, &constants)) ||
	    (r = get(f, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &local)) ||
	    (r = get(f, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &a->maxThreadsPerBlock)) ||
	    (r = get(f, CU_FUNC_ATTRIBUTE_NUM_REGS, &a->numRegs)) ||
	    (r = get(f, CU_FUNC_ATTRIBUTE_PTX_VERSION, &a->ptxVersion)) ||
	    (r = get(f, CU_FUNC_ATTRIBUTE_BINARY_VERSION, &a->binaryVersion)) ||
	    (r = get(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &a->maxDynamicSharedSizeBytes)) ||
	    (r = get(f, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, &a->preferredShmemCarveout)) ||
	    (r = get(f, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, &a->clusterDimMustBeSet)) ||
	    (r = get(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, &a->requiredClusterWidth)) ||
	    (r = get(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, &a->requiredClusterHeight)) ||
	    (r = get(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, &a->requiredClusterDepth)))
		return (cudaError_t)r;
	a->sharedSizeBytes = (size_t)shared;
	a->constSizeBytes = (size_t)constants;
	a->localSizeBytes = (size_t)local;
	return cudaSuccess;
}

RT(cudaFuncSetAttribute, (const void *func, enum cudaFuncAttribute attribute, int value),
   (func, attribute, value), "0x%lx", P(func))
{
	pt_none;
	CUfunction f;
	cudaError_t r;

	RT_ENTER();
	r = rt_function(func, &f);
	return r ? r : (cudaError_t)D->cuFuncSetAttribute(f, (CUfunction_attribute)attribute, value);
}

#define TRACE_OCCUPANCY "0x%lx %d %zu", P(func), threads, shared

RT(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
   (int *blocks, const void *func, int threads, size_t shared, unsigned flags),
   (blocks, func, threads, shared, flags), TRACE_OCCUPANCY)
{
	pt_none;
	CUfunction f;
	cudaError_t r;

	(void)flags;
	RT_ENTER();
	r = rt_function(func, &f);
	return r ? r : (cudaError_t)D->cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, f, threads, shared);
}

RT(cudaOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, const void *func, int threads, size_t shared),
   (blocks, func, threads, shared), TRACE_OCCUPANCY)
{
	return do_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, func, threads, shared, 0);
}

RT(cudaOccupancyAvailableDynamicSMemPerBlock, (size_t *shared, const void *func, int blocks, int threads),
   (shared, func, blocks, threads), "0x%lx %d %d", P(func), blocks, threads)
{
	pt_none;
	CUfunction f;
	cudaError_t r;

	RT_ENTER();
	r = rt_function(func, &f);
	return r ? r : (cudaError_t)D->cuOccupancyAvailableDynamicSMemPerBlock(shared, f, blocks, threads);
}
