/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runtime: nodes of graphs. */
#include <string.h>

#include "rt.h"
#include "rt_register.h"

static cudaError_t kernel(CUDA_KERNEL_NODE_PARAMS *to, const struct cudaKernelNodeParams *p)
{
	memset(to, 0, sizeof(*to));
	if (!p)
		return cudaErrorInvalidValue;
	to->gridDimX = p->gridDim.x;
	to->gridDimY = p->gridDim.y;
	to->gridDimZ = p->gridDim.z;
	to->blockDimX = p->blockDim.x;
	to->blockDimY = p->blockDim.y;
	to->blockDimZ = p->blockDim.z;
	to->sharedMemBytes = p->sharedMemBytes;
	to->kernelParams = p->kernelParams;
	to->extra = p->extra;
	return rt_function(p->func, &to->func);
}

RT(cudaGraphAddKernelNode,
   (cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t num_after,
    const struct cudaKernelNodeParams *p),
   (node, graph, after, num_after, p), "0x%lx 0x%lx", P(graph), p ? P(p->func) : 0)
{
	pt_none;
	CUDA_KERNEL_NODE_PARAMS params;
	cudaError_t r;

	RT_ENTER();
	r = kernel(&params, p);
	return r ? r : (cudaError_t)D->cuGraphAddKernelNode_v2(node, graph, after, num_after, &params);
}

RT(cudaGraphKernelNodeSetParams, (cudaGraphNode_t node, const struct cudaKernelNodeParams *p), (node, p),
   "0x%lx", P(node))
{
	pt_none;
	CUDA_KERNEL_NODE_PARAMS params;
	cudaError_t r;

	RT_ENTER();
	r = kernel(&params, p);
	return r ? r : (cudaError_t)D->cuGraphKernelNodeSetParams_v2(node, &params);
}

RT(cudaGraphExecKernelNodeSetParams,
   (cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaKernelNodeParams *p), (exec, node, p),
   "0x%lx 0x%lx", P(exec), P(node))
{
	pt_none;
	CUDA_KERNEL_NODE_PARAMS params;
	cudaError_t r;

	RT_ENTER();
	r = kernel(&params, p);
	return r ? r : (cudaError_t)D->cuGraphExecKernelNodeSetParams_v2(exec, node, &params);
}

static CUDA_MEMCPY3D flat(void *dst, const void *src, size_t size)
{
	return (CUDA_MEMCPY3D){
		.srcMemoryType = CU_MEMORYTYPE_UNIFIED, .srcDevice = P(src), .srcPitch = size,
		.dstMemoryType = CU_MEMORYTYPE_UNIFIED, .dstDevice = P(dst), .dstPitch = size,
		.WidthInBytes = size, .Height = 1, .Depth = 1,
	};
}

RT(cudaGraphAddMemcpyNode1D,
   (cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t num_after, void *dst,
    const void *src, size_t size, enum cudaMemcpyKind kind),
   (node, graph, after, num_after, dst, src, size, kind), "0x%lx %zu", P(graph), size)
{
	pt_none;
	CUDA_MEMCPY3D c = flat(dst, src, size);

	(void)kind;
	RT_ENTER();
	return (cudaError_t)D->cuGraphAddMemcpyNode(node, graph, after, num_after, &c, NULL);
}

RT(cudaGraphExecMemcpyNodeSetParams1D,
   (cudaGraphExec_t exec, cudaGraphNode_t node, void *dst, const void *src, size_t size, enum cudaMemcpyKind kind),
   (exec, node, dst, src, size, kind), "0x%lx %zu", P(exec), size)
{
	pt_none;
	CUDA_MEMCPY3D c = flat(dst, src, size);

	(void)kind;
	RT_ENTER();
	return (cudaError_t)D->cuGraphExecMemcpyNodeSetParams(exec, node, &c, NULL);
}

RT(cudaGraphAddMemcpyNode,
   (cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t num_after,
    const struct cudaMemcpy3DParms *p),
   (node, graph, after, num_after, p), "0x%lx", P(graph))
{
	pt_none;
	CUDA_MEMCPY3D c;
	cudaError_t r;

	RT_ENTER();
	r = p ? rt_box(&c, p) : cudaErrorInvalidValue;
	return r ? r : (cudaError_t)D->cuGraphAddMemcpyNode(node, graph, after, num_after, &c, NULL);
}

RT(cudaGraphAddMemsetNode,
   (cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t num_after,
    const struct cudaMemsetParams *p),
   (node, graph, after, num_after, p), "0x%lx", P(graph))
{
	pt_none;
	CUDA_MEMSET_NODE_PARAMS s;

	RT_ENTER();
	if (!p)
		return cudaErrorInvalidValue;
	s = (CUDA_MEMSET_NODE_PARAMS) {
		.dst = P(p->dst), .pitch = p->pitch, .value = p->value, .elementSize = p->elementSize,
		.width = p->width, .height = p->height,
	};
	return (cudaError_t)D->cuGraphAddMemsetNode(node, graph, after, num_after, &s, NULL);
}

RT(cudaGraphAddHostNode,
   (cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t num_after,
    const struct cudaHostNodeParams *p),
   (node, graph, after, num_after, p), "0x%lx", P(graph))
{
	pt_none;
	CUDA_HOST_NODE_PARAMS h;

	RT_ENTER();
	if (!p)
		return cudaErrorInvalidValue;
	h = (CUDA_HOST_NODE_PARAMS) { .fn = p->fn, .userData = p->userData };
	return (cudaError_t)D->cuGraphAddHostNode(node, graph, after, num_after, &h);
}

RT(cudaGraphAddEmptyNode,
   (cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t num_after),
   (node, graph, after, num_after), "0x%lx", P(graph))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuGraphAddEmptyNode(node, graph, after, num_after);
}

RT(cudaGraphAddChildGraphNode,
   (cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t num_after, cudaGraph_t child),
   (node, graph, after, num_after, child), "0x%lx 0x%lx", P(graph), P(child))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuGraphAddChildGraphNode(node, graph, after, num_after, child);
}

RT(cudaGraphClone, (cudaGraph_t *clone, cudaGraph_t graph), (clone, graph), "0x%lx 0x%lx", P(graph), OUT(clone))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuGraphClone(clone, graph);
}

RT(cudaGraphNodeGetType, (cudaGraphNode_t node, enum cudaGraphNodeType *type), (node, type), "0x%lx", P(node))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuGraphNodeGetType(node, (CUgraphNodeType *)type);
}

/* As of a kernel that the runtime has no function of, such as one of cuBLAS. */
RT(cudaGraphKernelNodeGetParams, (cudaGraphNode_t node, struct cudaKernelNodeParams *p), (node, p), "0x%lx", P(node))
{
	pt_none;
	RT_ENTER();
	return node && p ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue;
}

RT(cudaGraphExecUpdate, (cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info),
   (exec, graph, info), "0x%lx 0x%lx", P(exec), P(graph))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuGraphExecUpdate_v2(exec, graph, (CUgraphExecUpdateResultInfo *)info);
}

RT(cudaGraphNodeSetEnabled, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled), (exec, node, enabled),
   "0x%lx 0x%lx %u", P(exec), P(node), enabled)
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuGraphNodeSetEnabled(exec, node, enabled);
}

RT(cudaGraphAddMemAllocNode,
   (cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t num_after, struct cudaMemAllocNodeParams *p),
   (node, graph, after, num_after, p), "0x%lx", P(graph))
{
	pt_none;
	CUDA_MEM_ALLOC_NODE_PARAMS params = { .bytesize = p ? p->bytesize : 0 };
	cudaError_t r;

	RT_ENTER();
	r = (cudaError_t)D->cuGraphAddMemAllocNode(node, graph, after, num_after, p ? &params : NULL);
	if (!r)
		p->dptr = (void *)(uintptr_t)params.dptr;
	return r;
}

RT(cudaGraphAddMemFreeNode,
   (cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t num_after, void *ptr),
   (node, graph, after, num_after, ptr), "0x%lx 0x%lx", P(graph), P(ptr))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuGraphAddMemFreeNode(node, graph, after, num_after, P(ptr));
}

/* CUDA 12 has it without edges; the programs of the tests are compiled with CUDA 13's header. */
RT(cudaGraphAddNode,
   (cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, const cudaGraphEdgeData *edges, size_t num_after,
    struct cudaGraphNodeParams *p),
   (node, graph, after, edges, num_after, p), "0x%lx", P(graph))
{
	pt_none;
	struct cudaKernelNodeParams of_kernel;
	CUDA_KERNEL_NODE_PARAMS k;
	CUDA_MEMCPY3D c;
	cudaError_t r = cudaErrorInvalidValue;

	(void)edges;
	RT_ENTER();
	if (p && p->type == cudaGraphNodeTypeKernel) {
		memcpy(&of_kernel, &p->kernel, sizeof(of_kernel));
		r = kernel(&k, &of_kernel);
		return r ? r : (cudaError_t)D->cuGraphAddKernelNode_v2(node, graph, after, num_after, &k);
	}
	if (p && p->type == cudaGraphNodeTypeMemcpy) {
		r = rt_box(&c, &p->memcpy.copyParams);
		return r ? r : (cudaError_t)D->cuGraphAddMemcpyNode(node, graph, after, num_after, &c, NULL);
	}
	return r;
}

/* CUDA 12 has it by another prototype. */
#if SIM_CUDART >= 13
RT(cudaGraphAddDependencies,
   (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
    size_t num),
   (graph, from, to, edges, num), "0x%lx %zu", P(graph), num)
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuGraphAddDependencies_v2(graph, from, to, (const CUgraphEdgeData *)edges, num);
}
#endif
