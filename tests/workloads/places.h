/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What places_cuda.c defines. */
#ifndef TESTS_WORKLOADS_PLACES_H
#define TESTS_WORKLOADS_PLACES_H
#include "cuda_api.h"

int cuGreenCtxCreate(void **ctx, void *desc, int device, unsigned flags);
int cuGreenCtxStreamCreate(void **stream, void *ctx, unsigned flags, int priority);
int cudaDeviceGetExecutionCtx(void **ctx, int device);
int cudaExecutionCtxStreamCreate(void **stream, void *ctx, unsigned flags, int priority);
int cuMemPoolImportFromShareableHandle(CUmemoryPool *pool, void *handle, CUmemAllocationHandleType type,
				       unsigned long long flags);
int cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *from, CUmemAllocationHandleType type);
int cuMemPrefetchAsync(CUdeviceptr p, size_t n, int device, void *stream);
int cuMemAdvise(CUdeviceptr p, size_t n, int advice, int device);
int cudaMemPrefetchBatchAsync(void **p, size_t *sizes, size_t n, struct cudaMemLocation *to, size_t *which, size_t places,
			      unsigned long long flags, void *stream);
int cudaMemDiscardBatchAsync(void **p, size_t *sizes, size_t n, unsigned long long flags, void *stream);
int cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *p, size_t *sizes, size_t n, CUmemLocation *to, size_t *which, size_t places,
				     unsigned long long flags, void *stream);
int cudaStreamAddCallback(void *stream, void *call, void *data, unsigned flags);
int cudaMemSetMemPool(struct cudaMemLocation *location, int type, cudaMemPool_t pool);

#endif
