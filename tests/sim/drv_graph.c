/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: graphs, and how they run. */
#include <stdlib.h>
#include <string.h>

#include "drv_code.h"
#include "drv_graph.h"

static void *copy_of(const void *args, size_t size)
{
	void *p = args ? malloc(size) : NULL;

	return p ? memcpy(p, args, size) : NULL;
}

CUgraphNode graph_add(CUgraph graph, work_fn *run, const void *args, size_t size, CUgraphExec child)
{
	CUgraphNode node = calloc(1, sizeof(*node)), *grown;
	bool ok = node != NULL;

	if (node) {
		node->run = run;
		node->args = copy_of(args, size);
		node->size = size;
		node->child = child;
		ok = !args || node->args;
	}
	pthread_mutex_lock(&drv_lock);
	if (ok && graph->nodes == graph->room) {
		grown = realloc(graph->list, (graph->room * 2 + 16) * sizeof(*grown));
		ok = grown != NULL;
		if (ok) {
			graph->list = grown;
			graph->room = graph->room * 2 + 16;
		}
	}
	if (ok) {
		node->index = graph->nodes;
		graph->list[graph->nodes++] = node;
	}
	pthread_mutex_unlock(&drv_lock);
	if (ok)
		return node;
	if (node)
		free(node->args);
	free(node);
	return NULL;
}

CUresult graph_node_set(CUgraphNode node, work_fn *run, const void *args, size_t size)
{
	void *copy;

	if (!node || node->run != run)
		return CUDA_ERROR_INVALID_VALUE;
	copy = copy_of(args, size);
	if (!copy)
		return CUDA_ERROR_OUT_OF_MEMORY;
	free(node->args);
	node->args = copy;
	node->size = size;
	return CUDA_SUCCESS;
}

CUresult graph_calls_add(struct stream_calls *to, const struct stream_call *list, unsigned n)
{
	struct stream_call *grown = n ? realloc(to->list, (to->n + n) * sizeof(*grown)) : to->list;

	if (n && !grown)
		return CUDA_ERROR_OUT_OF_MEMORY;
	to->list = grown;
	if (n)
		memcpy(to->list + to->n, list, n * sizeof(*list));
	to->n += n;
	for (unsigned i = 0; i < n; i++)
		to->runs += list[i].run != NULL;
	return CUDA_SUCCESS;
}

/* Captures a call, if a stream captures; returns 0 if it does not. */
EXPORTED int sim_stream_capture(CUstream stream, void (*run)(const void *arg, CUstream stream), const void *arg, size_t size);
int sim_stream_capture(CUstream stream, void (*run)(const void *arg, CUstream stream), const void *arg, size_t size)
{
	CUstream s = drv_stream(stream);
	struct stream_call call = { .run = run };

	if (!s || !s->capturing)
		return 0;
	if (size > sizeof(call.arg))
		abort();
	memcpy(call.arg, arg, size);
	if (graph_calls_add(&s->capturing->calls, &call, 1))
		abort();
	return 1;
}

static void run_calls(const struct stream_calls *calls, CUstream stream)
{
	for (unsigned i = 0; calls->runs && i < calls->n; i++)
		if (calls->list[i].run)
			calls->list[i].run(calls->list[i].arg, stream);
}

CUgraphNode graph_exec_node(CUgraphExec exec, CUgraphNode origin)
{
	unsigned i;

	for (i = 0; exec && exec->list && i < exec->nodes; i++)
		if (exec->list[i].origin == origin)
			return &exec->list[i];
	return NULL;
}

static void exec_put(CUgraphExec exec)
{
	unsigned i;

	if (__atomic_sub_fetch(&exec->refs, 1, __ATOMIC_RELAXED))
		return;
	for (i = 0; exec->list && i < exec->nodes; i++) {
		free(exec->list[i].args);
		if (exec->list[i].child)
			exec_put(exec->list[i].child);
	}
	free(exec->list);
	free(exec->calls.list);
	free(exec);
}

void graph_free(CUgraph graph)
{
	unsigned i;

	for (i = 0; graph->list && i < graph->nodes; i++) {
		if (graph->list[i]->child)
			exec_put(graph->list[i]->child);
		free(graph->list[i]->after);
		free(graph->list[i]->args);
		free(graph->list[i]);
	}
	free(graph->list);
	free(graph->joined);
	free(graph->calls.list);
	free(graph);
}

/* Puts a node behind all that it comes after, which stand on a stack meanwhile; false if it comes after itself. */
static bool place(CUgraphNode node, CUgraphNode *stack, CUgraphNode *order, unsigned *placed)
{
	unsigned depth = 0;
	CUgraphNode top, before;

	stack[depth++] = node;
	while (depth) {
		top = stack[depth - 1];
		/* state: how many of those before it are done, and one */
		if (!top->state)
			top->state = 1;
		if (top->state - 1 < top->num_after) {
			before = top->after[top->state - 1];
			if (!before->state)
				stack[depth++] = before;
			else if (before->state <= before->num_after + 1)
				return false;
			else
				top->state++;
			continue;
		}
		top->state = (unsigned)top->num_after + 2;
		order[(*placed)++] = top;
		depth--;
	}
	return true;
}

static CUresult exec_fill(CUgraphExec exec, CUgraph graph)
{
	CUgraphNode *stack = calloc(2 * (size_t)graph->nodes + 1, sizeof(*stack)), *order = stack + graph->nodes;
	unsigned i, placed = 0;
	CUgraphNode to;

	exec->list = calloc(graph->nodes + 1, sizeof(*exec->list));
	for (i = 0; i < graph->nodes; i++)
		graph->list[i]->state = 0;
	for (i = 0; stack && exec->list && i < graph->nodes; i++)
		if (!graph->list[i]->state && !place(graph->list[i], stack, order, &placed)) {
			free(stack);
			return CUDA_ERROR_INVALID_VALUE;
		}
	for (i = 0; stack && exec->list && i < placed; i++) {
		to = &exec->list[i];
		*to = *order[i];
		to->origin = order[i];
		to->after = NULL;
		to->num_after = 0;
		to->args = copy_of(order[i]->args, order[i]->size);
		if (to->child)
			__atomic_add_fetch(&to->child->refs, 1, __ATOMIC_RELAXED);
		exec->nodes++;
		if (order[i]->args && !to->args)
			break;
	}
	free(stack);
	return exec->nodes == graph->nodes ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult instantiate(CUgraphExec *exec, CUgraph graph)
{
	CUresult r = CUDA_SUCCESS;
	CUgraphExec e;

	if (!exec || !graph)
		return CUDA_ERROR_INVALID_VALUE;
	e = calloc(1, sizeof(*e));
	if (!e)
		return CUDA_ERROR_OUT_OF_MEMORY;
	e->refs = 1;
	e->id = drv_graph_id();
	if (drv_kernels)
		r = exec_fill(e, graph);
	else
		e->nodes = graph->nodes;
	r = r ? r : graph_calls_add(&e->calls, graph->calls.list, graph->calls.n);
	if (r)
		exec_put(e);
	else
		*exec = e;
	return r;
}

/* args: a CUgraphExec; graphs in graphs are as many as the program nested. */
static CUresult run_exec(void *args)
{
	CUgraphExec exec = args;
	CUresult r = CUDA_SUCCESS;
	CUgraphNode n;
	unsigned i;

	for (i = 0; !r && exec->list && i < exec->nodes; i++) {
		n = &exec->list[i];
		if (drv_current()->fault)
			break;
		if (n->disabled)
			continue;
		if (n->child)
			r = run_exec(n->child);
		else if (n->run)
			r = n->run(n->args);
	}
	return r;
}

DRV_QUIET(cuGraphCreate)(CUgraph *graph, unsigned flags)
{
	if (!graph || flags)
		return CUDA_ERROR_INVALID_VALUE;
	*graph = calloc(1, sizeof(**graph));
	return *graph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

DRV_QUIET(cuGraphGetNodes)(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
	size_t i;

	if (!graph || !count)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; nodes && i < *count; i++)
		nodes[i] = i >= graph->nodes ? NULL :
			graph->list ? graph->list[i] : graph_number(graph, i);
	*count = graph->nodes;
	return CUDA_SUCCESS;
}

DRV_QUIET(cuGraphClone)(CUgraph *clone, CUgraph graph)
{
	CUgraphNode from, to;
	CUgraph copy;

	if (!clone || !graph)
		return CUDA_ERROR_INVALID_VALUE;
	copy = calloc(1, sizeof(*copy));
	if (!copy)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*clone = copy;
	if (graph_calls_add(&copy->calls, graph->calls.list, graph->calls.n))
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!drv_kernels)
		copy->nodes = graph->nodes;
	for (unsigned i = 0; drv_kernels && i < graph->nodes; i++) {
		from = graph->list[i];
		if (from->child)
			__atomic_add_fetch(&from->child->refs, 1, __ATOMIC_RELAXED);
		if (!graph_add(copy, from->run, from->args, from->size, from->child))
			return CUDA_ERROR_OUT_OF_MEMORY;
	}
	for (unsigned i = 0; drv_kernels && i < graph->nodes; i++) {
		from = graph->list[i];
		to = copy->list[i];
		for (size_t k = 0; k < from->num_after; k++)
			if (graph_after(to, &copy->list[from->after[k]->index], 1))
				return CUDA_ERROR_OUT_OF_MEMORY;
	}
	return CUDA_SUCCESS;
}

/* It becomes what the graph is; the real one refuses more than other nodes of the same kinds. */
DRV_QUIET(cuGraphExecUpdate_v2)(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
	struct CUgraphExec_st was;
	CUresult r = CUDA_SUCCESS;

	if (!exec || !graph || !info)
		return CUDA_ERROR_INVALID_VALUE;
	memset(info, 0, sizeof(*info));
	exec->calls.n = exec->calls.runs = 0;
	r = graph_calls_add(&exec->calls, graph->calls.list, graph->calls.n);
	if (r)
		return r;
	if (!drv_kernels) {
		exec->nodes = graph->nodes;
		return CUDA_SUCCESS;
	}
	was = *exec;
	exec->list = NULL;
	exec->nodes = 0;
	r = exec_fill(exec, graph);
	for (unsigned i = 0; i < was.nodes; i++) {
		free(was.list[i].args);
		if (was.list[i].child)
			exec_put(was.list[i].child);
	}
	free(was.list);
	return r;
}

DRV_QUIET(cuGraphNodeSetEnabled)(CUgraphExec exec, CUgraphNode node, unsigned enabled)
{
	CUgraphNode own = drv_kernels ? graph_exec_node(exec, node) : NULL;

	if (!exec || !node || (drv_kernels && !own))
		return CUDA_ERROR_INVALID_VALUE;
	if (own)
		own->disabled = !enabled;
	return CUDA_SUCCESS;
}

DRV_QUIET(cuGraphInstantiateWithFlags)(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
	(void)flags;
	return instantiate(exec, graph);
}

DRV_PTSZ(cuGraphLaunch, (CUgraphExec exec, CUstream stream), (exec, stream),
	 "0x%lx 0x%lx", P(exec), P(stream))
{
	CUresult r = exec ? drv_check() : CUDA_ERROR_INVALID_VALUE;
	CUstream s = drv_stream(stream);

	if (r)
		return r;
	if (s && s->capturing)
		r = graph_calls_add(&s->capturing->calls, exec->calls.list, exec->calls.n);
	else
		run_calls(&exec->calls, stream);
	if (!r && drv_kernels && (!s || !s->capturing))
		r = run_exec(exec);
	if (!r && (!s || !s->capturing))
		drv_graph_did(exec, stream);
	if (r || !drv_kernels || !s || !s->capturing)
		return r;
	__atomic_add_fetch(&exec->refs, 1, __ATOMIC_RELAXED);
	return graph_add(s->capturing, NULL, NULL, 0, exec) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

DRV_QUIET(cuGraphExecDestroy)(CUgraphExec exec)
{
	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	exec_put(exec);
	return CUDA_SUCCESS;
}

DRV_QUIET(cuGraphDestroy)(CUgraph graph)
{
	if (!graph)
		return CUDA_ERROR_INVALID_VALUE;
	graph_free(graph);
	return CUDA_SUCCESS;
}

DRV_QUIET(cuGraphAddChildGraphNode)(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t num_after,
				    CUgraph child)
{
	CUgraphExec exec = NULL;
	CUresult r;

	if (!node || !graph || !child || graph == child)
		return CUDA_ERROR_INVALID_VALUE;
	r = graph_calls_add(&graph->calls, child->calls.list, child->calls.n);
	if (r)
		return r;
	if (!drv_kernels) {
		*node = graph_number(graph, graph->nodes++);
		return CUDA_SUCCESS;
	}
	r = instantiate(&exec, child);
	if (r)
		return r;
	*node = graph_add(graph, NULL, NULL, 0, exec);
	if (!*node)
		exec_put(exec);
	return *node ? graph_after(*node, after, num_after) : CUDA_ERROR_OUT_OF_MEMORY;
}
