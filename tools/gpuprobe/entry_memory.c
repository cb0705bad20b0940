/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The wrappers of what allocates and frees memory.  Memory is known to kernels before the program has its address, and
 * until it has been freed, which waits for the kernels that use it.  What is freed in the order of a stream stays
 * known until it is given out again. */
#include "gpuprobe/entry.h"
#include "gpuprobe/ranges.h"
#include "gpuprobe/ranges_tell.h"
#include "gpuprobe/real.h"

#define NEED(name) \
	const struct driver *d = real_driver(); \
	if (!d || !d->name) \
		return CUDA_ERROR_NOT_FOUND

static CUresult got(CUresult r, const CUdeviceptr *p, size_t size)
{
	if (!r && p) {
		ranges_add(*p, size);
		ranges_tell();
	}
	return r;
}

static CUresult lost(CUresult r, CUdeviceptr p, uint64_t which)
{
	if (!r && which) {
		ranges_remove(p, which);
		ranges_tell();
	}
	return r;
}

EXPORTED CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t size)
{
	NEED(cuMemAlloc_v2);
	return got(d->cuMemAlloc_v2(p, size), p, size);
}

EXPORTED CUresult cuMemAllocManaged(CUdeviceptr *p, size_t size, unsigned flags)
{
	NEED(cuMemAllocManaged);
	return got(d->cuMemAllocManaged(p, size, flags), p, size);
}

EXPORTED CUresult cuMemAllocPitch_v2(CUdeviceptr *p, size_t *pitch, size_t width, size_t height, unsigned element)
{
	NEED(cuMemAllocPitch_v2);
	CUresult r = d->cuMemAllocPitch_v2(p, pitch, width, height, element);

	return got(r, p, !r && pitch ? *pitch * height : 0);
}

EXPORTED CUresult cuMemAllocAsync(CUdeviceptr *p, size_t size, CUstream stream)
{
	NEED(cuMemAllocAsync);
	return got(d->cuMemAllocAsync(p, size, stream), p, size);
}

EXPORTED CUresult cuMemAllocAsync_ptsz(CUdeviceptr *p, size_t size, CUstream stream)
{
	NEED(cuMemAllocAsync_ptsz);
	return got(d->cuMemAllocAsync_ptsz(p, size, stream), p, size);
}

EXPORTED CUresult cuMemAllocFromPoolAsync(CUdeviceptr *p, size_t size, void *pool, CUstream stream)
{
	NEED(cuMemAllocFromPoolAsync);
	return got(d->cuMemAllocFromPoolAsync(p, size, pool, stream), p, size);
}

EXPORTED CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *p, size_t size, void *pool, CUstream stream)
{
	NEED(cuMemAllocFromPoolAsync_ptsz);
	return got(d->cuMemAllocFromPoolAsync_ptsz(p, size, pool, stream), p, size);
}

EXPORTED CUresult cuMemFree_v2(CUdeviceptr p)
{
	NEED(cuMemFree_v2);
	uint64_t which = ranges_find(p);

	return lost(d->cuMemFree_v2(p), p, which);
}

/* Kernels have host memory at its own address. */
EXPORTED CUresult cuMemAllocHost_v2(void **p, size_t size)
{
	NEED(cuMemAllocHost_v2);
	return got(d->cuMemAllocHost_v2(p, size), (const CUdeviceptr *)p, size);
}

EXPORTED CUresult cuMemHostAlloc(void **p, size_t size, unsigned flags)
{
	NEED(cuMemHostAlloc);
	return got(d->cuMemHostAlloc(p, size, flags), (const CUdeviceptr *)p, size);
}

EXPORTED CUresult cuMemHostRegister_v2(void *p, size_t size, unsigned flags)
{
	NEED(cuMemHostRegister_v2);
	return got(d->cuMemHostRegister_v2(p, size, flags), (const CUdeviceptr *)&p, size);
}

EXPORTED CUresult cuMemFreeHost(void *p)
{
	NEED(cuMemFreeHost);
	uint64_t which = ranges_find((CUdeviceptr)p);

	return lost(d->cuMemFreeHost(p), (CUdeviceptr)p, which);
}

EXPORTED CUresult cuMemHostUnregister(void *p)
{
	NEED(cuMemHostUnregister);
	uint64_t which = ranges_find((CUdeviceptr)p);

	return lost(d->cuMemHostUnregister(p), (CUdeviceptr)p, which);
}

EXPORTED CUresult cuMemMap(CUdeviceptr p, size_t size, size_t offset, unsigned long long handle, unsigned long long flags)
{
	NEED(cuMemMap);
	return got(d->cuMemMap(p, size, offset, handle, flags), &p, size);
}

EXPORTED CUresult cuMemUnmap(CUdeviceptr p, size_t size)
{
	NEED(cuMemUnmap);
	uint64_t which = ranges_find(p);

	return lost(d->cuMemUnmap(p, size), p, which);
}

/* Another process's, whose size the driver knows. */
EXPORTED CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *p, struct CUipcMemHandle handle, unsigned flags)
{
	NEED(cuIpcOpenMemHandle_v2);
	CUresult r = d->cuIpcOpenMemHandle_v2(p, handle, flags);
	size_t size = 0;
	CUdeviceptr low;

	if (r || !p || !d->cuMemGetAddressRange_v2 || d->cuMemGetAddressRange_v2(&low, &size, *p))
		return r;
	return got(r, &low, size);
}
