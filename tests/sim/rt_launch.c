/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runtime: launches, and the three ways a kernel is named: by its stub, by the
 * handle that __cudaGetKernel gives for it, by the driver's function.
 */
#include "rt.h"
#include "rt_register.h"

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
/* As in NVIDIA's: a frame, none, and a jump to the public function. */
#if defined(__x86_64__)
#ifdef RT_STATIC
#define VISIBILITY(name) ".hidden " #name "\n"
#else
#define VISIBILITY(name)
#endif
#define JUMP(name, to) \
	__asm__(".pushsection .text\n" \
		".p2align 4\n" \
		".globl " #name "\n" VISIBILITY(name) \
		".type " #name ", @function\n" \
		#name ":\n" \
		"push %rbp\n" \
		"mov %rsp, %rbp\n" \
		"pop %rbp\n" \
		"jmp " #to "\n" \
		".size " #name ", . - " #name "\n" \
		".popsection\n")
JUMP(__cudaLaunchKernel, cudaLaunchKernel);
JUMP(__cudaLaunchKernel_ptsz, cudaLaunchKernel_ptsz);
#else
#define JUMP(name, to) \
	RT_EXPORTED cudaError_t name(cudaKernel_t k, dim3 grid, dim3 block, void **args, \
				     size_t shared, cudaStream_t stream) \
	{ \
		return to((const void *)k, grid, block, args, shared, stream); \
	}
JUMP(__cudaLaunchKernel, cudaLaunchKernel)
JUMP(__cudaLaunchKernel_ptsz, cudaLaunchKernel_ptsz)
#endif

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

RT(cudaFuncGetAttributes, (struct cudaFuncAttributes *a, const void *func), (a, func),
   "0x%lx", P(func))
{
	CUfunction f;
	cudaError_t r;

	RT_ENTER();
	r = a ? rt_function(func, &f) : cudaErrorInvalidValue;
	if (!r)
		*a = (struct cudaFuncAttributes) {
			.maxThreadsPerBlock = 1024, .numRegs = 16,
			.ptxVersion = 90, .binaryVersion = 90,
		};
	return r;
}

RT(cudaFuncSetAttribute, (const void *func, enum cudaFuncAttribute attribute, int value),
   (func, attribute, value), "0x%lx", P(func))
{
	CUfunction f;

	(void)attribute, (void)value;
	RT_ENTER();
	return rt_function(func, &f);
}

RT(cudaGraphAddKernelNode,
   (cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t num_after,
    const struct cudaKernelNodeParams *p),
   (node, graph, after, num_after, p), "0x%lx 0x%lx", P(graph), p ? P(p->func) : 0)
{
	pt_none;
	CUDA_KERNEL_NODE_PARAMS params = { 0 };
	cudaError_t r;

	RT_ENTER();
	if (!p)
		return cudaErrorInvalidValue;
	r = rt_function(p->func, &params.func);
	if (r)
		return r;
	params.gridDimX = p->gridDim.x;
	params.gridDimY = p->gridDim.y;
	params.gridDimZ = p->gridDim.z;
	params.blockDimX = p->blockDim.x;
	params.blockDimY = p->blockDim.y;
	params.blockDimZ = p->blockDim.z;
	params.sharedMemBytes = p->sharedMemBytes;
	params.kernelParams = p->kernelParams;
	return (cudaError_t)D->cuGraphAddKernelNode_v2(node, graph, after, num_after, &params);
}
