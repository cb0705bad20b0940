/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: a graph's nodes and their parameters. */
#include <stdlib.h>
#include <string.h>

#include "drv_graph.h"
#include "drv_launch.h"

CUresult graph_after(CUgraphNode node, const CUgraphNode *after, size_t num)
{
	CUgraphNode *grown;

	if (!num)
		return CUDA_SUCCESS;
	if (!after)
		return CUDA_ERROR_INVALID_VALUE;
	grown = realloc(node->after, (node->num_after + num) * sizeof(*grown));
	if (!grown)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(grown + node->num_after, after, num * sizeof(*after));
	node->after = grown;
	node->num_after += num;
	return CUDA_SUCCESS;
}

/* The caller has checked node and graph; without SIM_KERNELS a node is a number. */
static CUresult add(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t num_after, work_fn *run,
		    const void *args, size_t size)
{
	if (!drv_kernels) {
		*node = graph_number(graph, graph->nodes++);
		return CUDA_SUCCESS;
	}
	*node = graph_add(graph, run, args, size, NULL);
	return *node ? graph_after(*node, after, num_after) : CUDA_ERROR_OUT_OF_MEMORY;
}

static void watch(CUgraph graph, const struct sim_activity activity)
{
	drv_graph_node(graph, &activity);
}

static const struct CUfunc_st *function_of(const CUDA_KERNEL_NODE_PARAMS *p)
{
	return p->func ? p->func : &p->kern->on[drv_current() ? drv_current()->dev : 0];
}

static CUresult grid_of(struct grid_work **work, const CUDA_KERNEL_NODE_PARAMS *p)
{
	const struct launch l = {
		.function = (CUfunction)function_of(p),
		.grid = { p->gridDimX, p->gridDimY, p->gridDimZ },
		.block = { p->blockDimX, p->blockDimY, p->blockDimZ },
		.shared = p->sharedMemBytes,
	};
	int i;

	for (i = 0; i < 3; i++)
		if (!l.grid[i] || !l.block[i])
			return CUDA_ERROR_INVALID_VALUE;
	return grid_work_new(work, &l, p->kernelParams, p->extra);
}

DRV_QUIET(cuGraphAddKernelNode_v2)(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
				   size_t num_after, const CUDA_KERNEL_NODE_PARAMS *params)
{
	struct grid_work *work;
	CUresult r;

	if (!node || !graph || !params || (!params->func && !params->kern))
		return CUDA_ERROR_INVALID_VALUE;
	watch(graph, (struct sim_activity) {
		.kind = SIM_KERNEL, .function = function_of(params), .shared = params->sharedMemBytes,
		.grid = { params->gridDimX, params->gridDimY, params->gridDimZ },
		.block = { params->blockDimX, params->blockDimY, params->blockDimZ },
	});
	if (!drv_kernels)
		return add(node, graph, after, num_after, NULL, NULL, 0);
	r = grid_of(&work, params);
	if (r)
		return r;
	r = add(node, graph, after, num_after, grid_work_run, work, work->size);
	free(work);
	return r;
}

/* Without SIM_KERNELS nodes are not distinguished. */
DRV_QUIET(cuGraphNodeGetType)(CUgraphNode node, CUgraphNodeType *type)
{
	if (!node || !type)
		return CUDA_ERROR_INVALID_VALUE;
	*type = !drv_kernels || node->run == grid_work_run ? CU_GRAPH_NODE_TYPE_KERNEL :
		node->run == copy_box_run ? CU_GRAPH_NODE_TYPE_MEMCPY : node->run == fill_run ? CU_GRAPH_NODE_TYPE_MEMSET :
		node->run == host_run ? CU_GRAPH_NODE_TYPE_HOST : node->child ? CU_GRAPH_NODE_TYPE_GRAPH :
		CU_GRAPH_NODE_TYPE_EMPTY;
	return CUDA_SUCCESS;
}

static CUresult set_kernel(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params)
{
	struct grid_work *work;
	CUresult r;

	if (!params || (!params->func && !params->kern))
		return CUDA_ERROR_INVALID_VALUE;
	if (!drv_kernels)
		return CUDA_SUCCESS;
	r = grid_of(&work, params);
	if (r)
		return r;
	r = graph_node_set(node, grid_work_run, work, work->size);
	free(work);
	return r;
}

DRV_QUIET(cuGraphKernelNodeSetParams_v2)(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params)
{
	return node ? set_kernel(node, params) : CUDA_ERROR_INVALID_VALUE;
}

DRV_QUIET(cuGraphExecKernelNodeSetParams_v2)(CUgraphExec exec, CUgraphNode node,
					     const CUDA_KERNEL_NODE_PARAMS *params)
{
	return exec && node ? set_kernel(graph_exec_node(exec, node), params) : CUDA_ERROR_INVALID_VALUE;
}

DRV_QUIET(cuGraphAddMemcpyNode)(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t num_after,
				const CUDA_MEMCPY3D *params, CUcontext ctx)
{
	(void)ctx;
	if (!node || !graph || !params)
		return CUDA_ERROR_INVALID_VALUE;
	watch(graph, copy_box_activity(params));
	return add(node, graph, after, num_after, copy_box_run, params, sizeof(*params));
}

DRV_QUIET(cuGraphExecMemcpyNodeSetParams)(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *params,
					  CUcontext ctx)
{
	(void)ctx;
	if (!exec || !node || !params)
		return CUDA_ERROR_INVALID_VALUE;
	return drv_kernels ? graph_node_set(graph_exec_node(exec, node), copy_box_run, params, sizeof(*params)) :
		CUDA_SUCCESS;
}

DRV_QUIET(cuGraphAddMemsetNode)(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t num_after,
				const CUDA_MEMSET_NODE_PARAMS *p, CUcontext ctx)
{
	struct fill fill;

	(void)ctx;
	if (!node || !graph || !p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
		return CUDA_ERROR_INVALID_VALUE;
	fill = (struct fill) { p->dst, p->pitch, p->value, p->elementSize, p->width, p->height };
	watch(graph, fill_activity(&fill));
	return add(node, graph, after, num_after, fill_run, &fill, sizeof(fill));
}

DRV_QUIET(cuGraphAddHostNode)(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t num_after,
			      const CUDA_HOST_NODE_PARAMS *params)
{
	if (!node || !graph || !params || !params->fn)
		return CUDA_ERROR_INVALID_VALUE;
	return add(node, graph, after, num_after, host_run, params, sizeof(*params));
}

DRV_QUIET(cuGraphAddEmptyNode)(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t num_after)
{
	return node && graph ? add(node, graph, after, num_after, NULL, NULL, 0) : CUDA_ERROR_INVALID_VALUE;
}

DRV_QUIET(cuGraphAddDependencies_v2)(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
				     const CUgraphEdgeData *edges, size_t num)
{
	CUresult r = CUDA_SUCCESS;
	size_t i;

	(void)edges;
	if (!graph || (num && (!from || !to)))
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; drv_kernels && !r && i < num; i++)
		r = to[i] ? graph_after(to[i], &from[i], 1) : CUDA_ERROR_INVALID_VALUE;
	return r;
}
