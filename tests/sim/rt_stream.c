/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runtime: streams, events, graphs. Handles are the driver's. */
#include "rt.h"

RT(cudaStreamCreate, (cudaStream_t *stream), (stream), "0x%lx", OUT(stream))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuStreamCreate(stream, 0);
}

RT(cudaStreamCreateWithFlags, (cudaStream_t *stream, unsigned flags), (stream, flags),
   "0x%lx", OUT(stream))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuStreamCreate(stream, flags);
}

RT(cudaStreamCreateWithPriority, (cudaStream_t *stream, unsigned flags, int priority),
   (stream, flags, priority), "0x%lx", OUT(stream))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuStreamCreateWithPriority(stream, flags, priority);
}

RT(cudaStreamDestroy, (cudaStream_t stream), (stream), "0x%lx", P(stream))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuStreamDestroy_v2(stream);
}

RT_PTSZ(cudaStreamSynchronize, (cudaStream_t stream), (stream), "0x%lx", P(stream))
{
	RT_ENTER();
	return (cudaError_t)D->cuStreamSynchronize(stream);
}

RT_PTSZ(cudaStreamQuery, (cudaStream_t stream), (stream), "0x%lx", P(stream))
{
	RT_ENTER();
	return (cudaError_t)D->cuStreamQuery(stream);
}

RT_PTSZ(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags),
	(stream, event, flags), "0x%lx 0x%lx", P(stream), P(event))
{
	RT_ENTER();
	return (cudaError_t)D->cuStreamWaitEvent(stream, event, flags);
}

RT_PTSZ(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t fn, void *data),
	(stream, fn, data), "0x%lx 0x%lx", P(stream), P(fn))
{
	RT_ENTER();
	return (cudaError_t)D->cuLaunchHostFunc(stream, fn, data);
}

RT(cudaEventCreate, (cudaEvent_t *event), (event), "0x%lx", OUT(event))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuEventCreate(event, 0);
}

RT(cudaEventCreateWithFlags, (cudaEvent_t *event, unsigned flags), (event, flags),
   "0x%lx", OUT(event))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuEventCreate(event, flags);
}

RT(cudaEventDestroy, (cudaEvent_t event), (event), "0x%lx", P(event))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuEventDestroy_v2(event);
}

RT_PTSZ(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream),
	"0x%lx 0x%lx", P(event), P(stream))
{
	RT_ENTER();
	return (cudaError_t)D->cuEventRecord(event, stream);
}

RT(cudaEventSynchronize, (cudaEvent_t event), (event), "0x%lx", P(event))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuEventSynchronize(event);
}

RT(cudaEventQuery, (cudaEvent_t event), (event), "0x%lx", P(event))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuEventQuery(event);
}

RT(cudaEventElapsedTime, (float *ms, cudaEvent_t start, cudaEvent_t end), (ms, start, end),
   "0x%lx 0x%lx", P(start), P(end))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuEventElapsedTime_v2(ms, start, end);
}

RT_PTSZ(cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode),
	(stream, mode), "0x%lx", P(stream))
{
	RT_ENTER();
	return (cudaError_t)D->cuStreamBeginCapture_v2(stream, (CUstreamCaptureMode)mode);
}

RT_PTSZ(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *graph), (stream, graph),
	"0x%lx 0x%lx", P(stream), OUT(graph))
{
	RT_ENTER();
	return (cudaError_t)D->cuStreamEndCapture(stream, graph);
}

RT_PTSZ(cudaStreamIsCapturing, (cudaStream_t stream, enum cudaStreamCaptureStatus *status),
	(stream, status), "0x%lx", P(stream))
{
	RT_ENTER();
	return (cudaError_t)D->cuStreamIsCapturing(stream, (CUstreamCaptureStatus *)status);
}

RT(cudaGraphCreate, (cudaGraph_t *graph, unsigned flags), (graph, flags), "0x%lx", OUT(graph))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuGraphCreate(graph, flags);
}

RT(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count),
   (graph, nodes, count), "0x%lx", P(graph))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuGraphGetNodes(graph, nodes, count);
}

RT(cudaGraphInstantiate, (cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags),
   (exec, graph, flags), "0x%lx 0x%lx", P(graph), OUT(exec))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuGraphInstantiateWithFlags(exec, graph, flags);
}

RT(cudaGraphInstantiateWithFlags,
   (cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags),
   (exec, graph, flags), "0x%lx 0x%lx", P(graph), OUT(exec))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuGraphInstantiateWithFlags(exec, graph, flags);
}

RT_PTSZ(cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream),
	"0x%lx 0x%lx", P(exec), P(stream))
{
	RT_ENTER();
	return (cudaError_t)D->cuGraphLaunch(exec, stream);
}

RT(cudaGraphExecDestroy, (cudaGraphExec_t exec), (exec), "0x%lx", P(exec))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuGraphExecDestroy(exec);
}

RT(cudaGraphDestroy, (cudaGraph_t graph), (graph), "0x%lx", P(graph))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuGraphDestroy(graph);
}
