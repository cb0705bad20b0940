/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runtime: captures, and what else only clients ask of streams and kernels. */
#include "../../sim/rt_register.h"
#include "rt_find.h"

extern cudaError_t cudaProfilerStart(void), cudaProfilerStop(void);	/* of no header for all */

RT_PTSZ(cudaStreamGetCaptureInfo,
	(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
	 cudaGraph_t *graph, const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges,
	 size_t *count),
	(stream, status, id, graph, nodes, edges, count), "0x%lx", P(stream))
{
	(void)pt;
	RT_ENTER();
	return (cudaError_t)DRIVER(cuStreamGetCaptureInfo_v3)(stream, (CUstreamCaptureStatus *)status,
		(cuuint64_t *)id, graph, nodes, (const CUgraphEdgeData **)edges, count);
}

RT_QUIET(cudaThreadExchangeStreamCaptureMode)(enum cudaStreamCaptureMode *mode)
{
	cudaError_t r = rt_enter();

	return rt_done(r ? r : (cudaError_t)
		       DRIVER(cuThreadExchangeStreamCaptureMode)((CUstreamCaptureMode *)mode));
}

RT_PTSZ(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned flags),
	(event, stream, flags), "0x%lx 0x%lx", P(event), P(stream))
{
	(void)flags;
	RT_ENTER();
	return (cudaError_t)D->cuEventRecord(event, stream);
}

RT_QUIET(cudaStreamGetPriority)(cudaStream_t stream, int *priority)
{
	cudaError_t r = rt_enter();

	return rt_done(r ? r : (cudaError_t)DRIVER(cuStreamGetPriority)(stream, priority));
}

RT_PTSZ(cudaStreamAddCallback,
	(cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned flags),
	(stream, callback, data, flags), "0x%lx", P(stream))
{
	(void)pt;
	RT_ENTER();
	return (cudaError_t)DRIVER(cuStreamAddCallback)(stream, (CUstreamCallback)callback, data, flags);
}

RT_QUIET(cudaMemPoolSetAccess)(cudaMemPool_t pool, const struct cudaMemAccessDesc *map, size_t count)
{
	cudaError_t r = rt_enter();

	return rt_done(r ? r : (cudaError_t)
		       DRIVER(cuMemPoolSetAccess)(pool, (const CUmemAccessDesc *)map, count));
}
