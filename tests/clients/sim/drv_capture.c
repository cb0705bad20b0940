/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: streams that are being captured, and what else programs ask of streams. */
#include "../../sim/drv.h"

/* A capture's id is its graph's address, which no other capture has at the same time. */
static CUresult capture_info(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
			     CUgraph *graph)
{
	CUstream s = drv_stream(stream);
	CUgraph capturing = s ? s->capturing : NULL;

	if (!status)
		return CUDA_ERROR_INVALID_VALUE;
	*status = capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
	if (id && capturing)
		*id = P(capturing);
	if (graph && capturing)
		*graph = capturing;
	return CUDA_SUCCESS;
}

DRV_PTSZ(cuStreamGetCaptureInfo_v3,
	 (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
	  const CUgraphNode **nodes, const CUgraphEdgeData **edges, size_t *count),
	 (stream, status, id, graph, nodes, edges, count), "0x%lx", P(stream))
{
	if (nodes)
		*nodes = NULL;
	if (edges)
		*edges = NULL;
	if (count)
		*count = 0;
	return capture_info(stream, status, id, graph);
}

DRV_QUIET(cuStreamGetPriority)(CUstream stream, int *priority)
{
	(void)stream;
	if (!priority)
		return CUDA_ERROR_INVALID_VALUE;
	*priority = 0;
	return drv_check();
}

/* What is recorded outside of a capture is done at once. */
DRV_PTSZ(cuStreamAddCallback,
	 (CUstream stream, CUstreamCallback callback, void *data, unsigned flags),
	 (stream, callback, data, flags), "0x%lx", P(stream))
{
	if (!callback || flags)
		return CUDA_ERROR_INVALID_VALUE;
	callback(stream, CUDA_SUCCESS, data);
	return CUDA_SUCCESS;
}
