/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* For places.c, a library beside libcuda: functions of CUDA that the simulation lacks. */
#include <stdlib.h>
#include <string.h>
#include "places.h"

#define KEPT __attribute__((noipa, visibility("default")))

/* A stream and a context need not be more than handles. */
KEPT int cuGreenCtxCreate(void **ctx, void *desc, int device, unsigned flags)
{
	(void)desc, (void)flags;
	*ctx = (void *)(0x7000000ul + 0x1000ul * (unsigned)device);
	return 0;
}

KEPT int cuGreenCtxStreamCreate(void **stream, void *ctx, unsigned flags, int priority)
{
	(void)ctx, (void)flags, (void)priority;
	*stream = malloc(64);
	return 0;
}

KEPT int cudaDeviceGetExecutionCtx(void **ctx, int device)
{
	*ctx = (void *)(0x8000000ul + 0x1000ul * (unsigned)device);
	return 0;
}

KEPT int cudaExecutionCtxStreamCreate(void **stream, void *ctx, unsigned flags, int priority)
{
	(void)ctx, (void)flags, (void)priority;
	*stream = malloc(64);
	return 0;
}

KEPT int cuMemPoolImportFromShareableHandle(CUmemoryPool *pool, void *handle, CUmemAllocationHandleType type,
					    unsigned long long flags)
{
	(void)type, (void)flags;
	*pool = handle;
	return 0;
}

KEPT int cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *from,
					CUmemAllocationHandleType type)
{
	CUmemAllocationProp p;

	(void)from, (void)type;
	memset(&p, 0, sizeof(p));
	p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	return cuMemCreate(handle, 2 << 20, &p, 0);
}

KEPT int cuMemPrefetchAsync(CUdeviceptr p, size_t n, int device, void *stream)
{
	(void)p, (void)n, (void)device, (void)stream;
	return 0;
}

KEPT int cuMemAdvise(CUdeviceptr p, size_t n, int advice, int device)
{
	(void)p, (void)n, (void)advice, (void)device;
	return 0;
}

KEPT int cudaMemPrefetchBatchAsync(void **p, size_t *sizes, size_t n, struct cudaMemLocation *to, size_t *which,
				   size_t places, unsigned long long flags, void *stream)
{
	(void)p, (void)sizes, (void)n, (void)to, (void)which, (void)places, (void)flags, (void)stream;
	return 0;
}

KEPT int cudaMemDiscardBatchAsync(void **p, size_t *sizes, size_t n, unsigned long long flags, void *stream)
{
	(void)p, (void)sizes, (void)n, (void)flags, (void)stream;
	return 0;
}

KEPT int cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *p, size_t *sizes, size_t n, CUmemLocation *to, size_t *which,
					  size_t places, unsigned long long flags, void *stream)
{
	(void)p, (void)sizes, (void)n, (void)to, (void)which, (void)places, (void)flags, (void)stream;
	return 0;
}

KEPT int cudaStreamAddCallback(void *stream, void *call, void *data, unsigned flags)
{
	(void)stream, (void)call, (void)data, (void)flags;
	return 0;
}

KEPT int cudaMemSetMemPool(struct cudaMemLocation *location, int type, cudaMemPool_t pool)
{
	(void)location, (void)type, (void)pool;
	return 0;
}
