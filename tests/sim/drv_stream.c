/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: streams, events, captured graphs. */
#include <stdlib.h>
#include <time.h>

#include "drv.h"

struct CUevent_st {
	struct timespec when;
	int recorded;
};

/* A graph is what was captured: that many nodes. */
struct CUgraph_st {
	unsigned nodes;
};

struct CUgraphExec_st {
	unsigned nodes;
};

CUstream drv_stream(CUstream stream)
{
	return IS_DEFAULT_STREAM(stream) ? NULL : stream;
}

int drv_capture(CUstream stream)
{
	CUstream s = drv_stream(stream);

	if (!s || !s->capturing)
		return 0;
	__atomic_add_fetch(&s->capturing->nodes, 1, __ATOMIC_RELAXED);
	return 1;
}

static CUresult stream_new(CUstream *stream)
{
	CUresult r = drv_check();

	if (r)
		return r;
	if (!stream)
		return CUDA_ERROR_INVALID_VALUE;
	*stream = calloc(1, sizeof(**stream));
	return *stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

DRV_QUIET(cuStreamCreate)(CUstream *stream, unsigned flags)
{
	(void)flags;
	return stream_new(stream);
}

DRV_QUIET(cuStreamCreateWithPriority)(CUstream *stream, unsigned flags, int priority)
{
	(void)flags, (void)priority;
	return stream_new(stream);
}

DRV_QUIET(cuStreamDestroy_v2)(CUstream stream)
{
	if (IS_DEFAULT_STREAM(stream))
		return CUDA_ERROR_INVALID_HANDLE;
	free(stream);
	return CUDA_SUCCESS;
}

DRV_PTSZ(cuStreamSynchronize, (CUstream stream), (stream), "0x%lx", P(stream))
{
	(void)stream;
	return drv_check();
}

DRV_PTSZ(cuStreamQuery, (CUstream stream), (stream), "0x%lx", P(stream))
{
	(void)stream;
	return drv_check();
}

DRV_PTSZ(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags),
	 (stream, event, flags), "0x%lx 0x%lx", P(stream), P(event))
{
	(void)stream, (void)flags;
	return event ? drv_check() : CUDA_ERROR_INVALID_HANDLE;
}

DRV_PTSZ(cuLaunchHostFunc, (CUstream stream, CUhostFn fn, void *data), (stream, fn, data),
	 "0x%lx 0x%lx", P(stream), P(fn))
{
	if (!fn)
		return CUDA_ERROR_INVALID_VALUE;
	if (!drv_capture(stream))
		fn(data);
	return CUDA_SUCCESS;
}

DRV_QUIET(cuEventCreate)(CUevent *event, unsigned flags)
{
	CUresult r = drv_check();

	(void)flags;
	if (r)
		return r;
	if (!event)
		return CUDA_ERROR_INVALID_VALUE;
	*event = calloc(1, sizeof(**event));
	return *event ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

DRV_QUIET(cuEventDestroy_v2)(CUevent event)
{
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	free(event);
	return CUDA_SUCCESS;
}

DRV_PTSZ(cuEventRecord, (CUevent event, CUstream stream), (event, stream),
	 "0x%lx 0x%lx", P(event), P(stream))
{
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!drv_capture(stream)) {
		clock_gettime(CLOCK_MONOTONIC, &event->when);
		event->recorded = 1;
	}
	return CUDA_SUCCESS;
}

DRV(cuEventSynchronize, (CUevent event), (event), "0x%lx", P(event))
{
	return event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

DRV(cuEventQuery, (CUevent event), (event), "0x%lx", P(event))
{
	return event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

DRV_QUIET(cuEventElapsedTime_v2)(float *ms, CUevent start, CUevent end)
{
	if (!ms || !start || !end || !start->recorded || !end->recorded)
		return CUDA_ERROR_INVALID_HANDLE;
	*ms = (float)((end->when.tv_sec - start->when.tv_sec) * 1e3 +
		      (end->when.tv_nsec - start->when.tv_nsec) / 1e6);
	return CUDA_SUCCESS;
}

DRV_PTSZ(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode), (stream, mode),
	 "0x%lx", P(stream))
{
	CUstream s = drv_stream(stream);

	(void)mode;
	if (!s || s->capturing)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	s->capturing = calloc(1, sizeof(*s->capturing));
	return s->capturing ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

DRV_PTSZ(cuStreamEndCapture, (CUstream stream, CUgraph *graph), (stream, graph),
	 "0x%lx 0x%lx", P(stream), OUT(graph))
{
	CUstream s = drv_stream(stream);

	if (!s || !s->capturing || !graph)
		return CUDA_ERROR_ILLEGAL_STATE;
	*graph = s->capturing;
	s->capturing = NULL;
	return CUDA_SUCCESS;
}

DRV_PTSZ(cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus *status), (stream, status),
	 "0x%lx", P(stream))
{
	CUstream s = drv_stream(stream);

	if (!status)
		return CUDA_ERROR_INVALID_VALUE;
	*status = s && s->capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE :
		CU_STREAM_CAPTURE_STATUS_NONE;
	return CUDA_SUCCESS;
}

DRV_QUIET(cuGraphCreate)(CUgraph *graph, unsigned flags)
{
	if (!graph || flags)
		return CUDA_ERROR_INVALID_VALUE;
	*graph = calloc(1, sizeof(**graph));
	return *graph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

DRV_QUIET(cuGraphAddKernelNode_v2)(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
				   size_t num_after, const CUDA_KERNEL_NODE_PARAMS *params)
{
	(void)after, (void)num_after;
	if (!node || !graph || !params || (!params->func && !params->kern))
		return CUDA_ERROR_INVALID_VALUE;
	*node = (CUgraphNode)(uintptr_t)++graph->nodes;
	return CUDA_SUCCESS;
}

DRV_QUIET(cuGraphGetNodes)(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
	size_t i;

	if (!graph || !count)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; nodes && i < *count; i++)
		nodes[i] = (CUgraphNode)(uintptr_t)(i < graph->nodes ? i + 1 : 0);
	*count = graph->nodes;
	return CUDA_SUCCESS;
}

DRV_QUIET(cuGraphInstantiateWithFlags)(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
	(void)flags;
	if (!exec || !graph)
		return CUDA_ERROR_INVALID_VALUE;
	*exec = calloc(1, sizeof(**exec));
	if (!*exec)
		return CUDA_ERROR_OUT_OF_MEMORY;
	(*exec)->nodes = graph->nodes;
	return CUDA_SUCCESS;
}

DRV_PTSZ(cuGraphLaunch, (CUgraphExec exec, CUstream stream), (exec, stream),
	 "0x%lx 0x%lx", P(exec), P(stream))
{
	(void)stream;
	return exec ? drv_check() : CUDA_ERROR_INVALID_VALUE;
}

DRV_QUIET(cuGraphExecDestroy)(CUgraphExec exec)
{
	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	free(exec);
	return CUDA_SUCCESS;
}

DRV_QUIET(cuGraphDestroy)(CUgraph graph)
{
	if (!graph)
		return CUDA_ERROR_INVALID_VALUE;
	free(graph);
	return CUDA_SUCCESS;
}
