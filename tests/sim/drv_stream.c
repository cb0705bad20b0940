/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: streams, events, captured graphs. */
#include <stdlib.h>
#include <time.h>

#include "drv_code.h"
#include "drv_graph.h"

struct CUevent_st {
	struct timespec when;
	uint64_t model;		/* the device's clock */
	uint64_t capture;	/* that it was recorded in */
	CUstream stream;
	uint64_t work;		/* the last one before it */
	int recorded;
};

CUstream drv_stream(CUstream stream)
{
	static __thread struct CUstream_st own;

	return stream == CU_STREAM_PER_THREAD ? &own : IS_DEFAULT_STREAM(stream) ? NULL : stream;
}

/* Captured nodes run in the order in which they were captured: no other order is right in more programs. */
int drv_capture(CUstream stream, const struct sim_activity *activity, work_fn *run, const void *args, size_t size)
{
	CUstream s = drv_stream(stream);

	if (!s || !s->capturing)
		return unlikely(drv_faults) && drv_current() && drv_current()->fault;
	if (activity)
		drv_graph_node(s->capturing, activity);
	if (!drv_kernels)
		__atomic_add_fetch(&s->capturing->nodes, 1, __ATOMIC_RELAXED);
	else if (run && !graph_add(s->capturing, run, args, size, NULL))
		abort();
	return 1;
}

/* Captures that go on, by drv_lock. */
static CUgraph captures;
static uint64_t last_capture;

static void capture_begin(CUgraph graph)
{
	pthread_mutex_lock(&drv_lock);
	graph->capture = ++last_capture;
	graph->next = captures;
	captures = graph;
	pthread_mutex_unlock(&drv_lock);
}

/* A stream that waits for an event of a capture is captured from then on. */
static void capture_join(CUstream s, uint64_t capture)
{
	CUgraph g;
	CUstream *grown;

	pthread_mutex_lock(&drv_lock);
	for (g = captures; g && g->capture != capture; g = g->next)
		;
	if (g && s && !s->capturing) {
		grown = realloc(g->joined, (g->num_joined + 1) * sizeof(*grown));
		if (!grown)
			abort();
		g->joined = grown;
		g->joined[g->num_joined++] = s;
		s->capturing = g;
	}
	pthread_mutex_unlock(&drv_lock);
}

static void capture_leave(CUstream s)
{
	CUgraph g = s->capturing;
	size_t i;

	pthread_mutex_lock(&drv_lock);
	for (i = 0; i < g->num_joined; i++)
		if (g->joined[i] == s)
			g->joined[i] = g->joined[--g->num_joined];
	s->capturing = NULL;
	pthread_mutex_unlock(&drv_lock);
}

static void capture_end(CUgraph graph)
{
	CUgraph *p;
	size_t i;

	pthread_mutex_lock(&drv_lock);
	for (p = &captures; *p && *p != graph; p = &(*p)->next)
		;
	if (*p)
		*p = graph->next;
	for (i = 0; i < graph->num_joined; i++)
		graph->joined[i]->capturing = NULL;
	graph->num_joined = 0;
	graph->capture = 0;
	pthread_mutex_unlock(&drv_lock);
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
	if (stream->capturing && drv_kernels)
		capture_leave(stream);
	free(stream);
	return CUDA_SUCCESS;
}

DRV_PTSZ(cuStreamSynchronize, (CUstream stream), (stream), "0x%lx", P(stream))
{
	drv_work_wait(stream, UINT64_MAX);
	return drv_sync();
}

DRV_PTSZ(cuStreamQuery, (CUstream stream), (stream), "0x%lx", P(stream))
{
	CUresult r = drv_sync();

	return !r && drv_work_pending(stream, UINT64_MAX) ? CUDA_ERROR_NOT_READY : r;
}

DRV_PTSZ(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags),
	 (stream, event, flags), "0x%lx 0x%lx", P(stream), P(event))
{
	CUresult r = event ? drv_check() : CUDA_ERROR_INVALID_HANDLE;

	(void)flags;
	if (!r && drv_kernels && event->capture)
		capture_join(drv_stream(stream), event->capture);
	if (!r && !event->capture && event->recorded && unlikely(drv_works))
		drv_work_await(stream, event->stream, event->work);
	return r;
}

CUresult host_run(void *args)
{
	const CUDA_HOST_NODE_PARAMS *p = args;

	p->fn(p->userData);
	return CUDA_SUCCESS;
}

DRV_PTSZ(cuLaunchHostFunc, (CUstream stream, CUhostFn fn, void *data), (stream, fn, data),
	 "0x%lx 0x%lx", P(stream), P(fn))
{
	const CUDA_HOST_NODE_PARAMS p = { .fn = fn, .userData = data };

	if (!fn)
		return CUDA_ERROR_INVALID_VALUE;
	if (!drv_capture(stream, NULL, host_run, &p, sizeof(p)))
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
	CUstream s = drv_stream(stream);

	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	event->capture = s && s->capturing ? s->capturing->capture : 0;
	if (!drv_capture(stream, NULL, NULL, NULL, 0)) {
		clock_gettime(CLOCK_MONOTONIC, &event->when);
		if (drv_kernels && drv_current())
			event->model = drv_clock(drv_current()->dev);
		event->stream = stream;
		event->work = drv_work_last();
		event->recorded = 1;
	}
	return CUDA_SUCCESS;
}

/* What events say, they say without a context, but for a fault. */
static CUresult waited(void)
{
	return unlikely(drv_faults) ? drv_sync() : CUDA_SUCCESS;
}

DRV(cuEventSynchronize, (CUevent event), (event), "0x%lx", P(event))
{
	if (event && event->recorded && unlikely(drv_works))
		drv_work_wait(event->stream, event->work);
	return event ? waited() : CUDA_ERROR_INVALID_HANDLE;
}

DRV(cuEventQuery, (CUevent event), (event), "0x%lx", P(event))
{
	if (event && event->recorded && unlikely(drv_works) && drv_work_pending(event->stream, event->work))
		return CUDA_ERROR_NOT_READY;
	return event ? waited() : CUDA_ERROR_INVALID_HANDLE;
}

DRV_QUIET(cuEventElapsedTime_v2)(float *ms, CUevent start, CUevent end)
{
	if (!ms || !start || !end || !start->recorded || !end->recorded)
		return CUDA_ERROR_INVALID_HANDLE;
	if (drv_kernels) {
		*ms = (float)((double)(int64_t)(end->model - start->model) / 1e6);
		return CUDA_SUCCESS;
	}
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
	if (!s->capturing)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (drv_kernels)
		capture_begin(s->capturing);
	return CUDA_SUCCESS;
}

/* No call is refused because of a capture: the mode is kept, and changes nothing. */
DRV_QUIET(cuThreadExchangeStreamCaptureMode)(CUstreamCaptureMode *mode)
{
	static __thread CUstreamCaptureMode mine;
	CUstreamCaptureMode old = mine;

	if (!mode || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	mine = *mode;
	*mode = old;
	return CUDA_SUCCESS;
}

DRV_PTSZ(cuStreamEndCapture, (CUstream stream, CUgraph *graph), (stream, graph),
	 "0x%lx 0x%lx", P(stream), OUT(graph))
{
	CUstream s = drv_stream(stream);

	if (!s || !s->capturing || !graph)
		return CUDA_ERROR_ILLEGAL_STATE;
	*graph = s->capturing;
	s->capturing = NULL;
	if (drv_kernels)
		capture_end(*graph);
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
