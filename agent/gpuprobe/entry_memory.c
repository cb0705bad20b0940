/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Wrappers of the functions that allocate and free memory.  A range is in the list (ranges.h) before the program gets its
 * address, and until cuMemFree(), number waits for kernels that use it, has returned.  Memory freed in stream order stays
 * in the list until it is allocated again. */
#include "agent/gpuprobe/entry.h"
#include "agent/gpuprobe/gpuprobe.h"
#include "agent/gpuprobe/ranges.h"

static CUresult allocated(CUresult r, const CUdeviceptr *p, size_t size)
{
	if (!r && p) {
		ranges_add(*p, size);
		gpuprobe_update_ranges();
	}
	return r;
}

static CUresult freed(CUresult r, CUdeviceptr p, uint64_t number)
{
	if (!r && number) {
		ranges_remove(p, number);
		gpuprobe_update_ranges();
	}
	return r;
}

#define ALLOCATES(name, params, args, p, size) \
	EXPORTED CUresult name params \
	{ \
		NEED(name); \
		return allocated(d->name args, p, size); \
	}
ALLOCATES(cuMemAlloc_v2, (CUdeviceptr *p, size_t size), (p, size), p, size)
ALLOCATES(cuMemAllocManaged, (CUdeviceptr *p, size_t size, unsigned flags), (p, size, flags), p, size)
ALLOCATES(cuMemAllocAsync, (CUdeviceptr *p, size_t size, CUstream stream), (p, size, stream), p, size)
ALLOCATES(cuMemAllocAsync_ptsz, (CUdeviceptr *p, size_t size, CUstream stream), (p, size, stream), p, size)
ALLOCATES(cuMemAllocFromPoolAsync, (CUdeviceptr *p, size_t size, void *pool, CUstream stream), (p, size, pool, stream), p, size)
ALLOCATES(cuMemAllocFromPoolAsync_ptsz, (CUdeviceptr *p, size_t size, void *pool, CUstream stream), (p, size, pool, stream),
	  p, size)
/* kernels access host memory at the host's address */
ALLOCATES(cuMemAllocHost_v2, (void **p, size_t size), (p, size), (const CUdeviceptr *)p, size)
ALLOCATES(cuMemHostAlloc, (void **p, size_t size, unsigned flags), (p, size, flags), (const CUdeviceptr *)p, size)
ALLOCATES(cuMemHostRegister_v2, (void *p, size_t size, unsigned flags), (p, size, flags), (const CUdeviceptr *)&p, size)
ALLOCATES(cuMemMap, (CUdeviceptr p, size_t size, size_t offset, unsigned long long handle, unsigned long long flags),
	  (p, size, offset, handle, flags), &p, size)

EXPORTED CUresult cuMemAllocPitch_v2(CUdeviceptr *p, size_t *pitch, size_t width, size_t height, unsigned element)
{
	NEED(cuMemAllocPitch_v2);
	CUresult r = d->cuMemAllocPitch_v2(p, pitch, width, height, element);

	return allocated(r, p, !r && pitch ? *pitch * height : 0);
}

/* The size of another process's memory is known to the driver. */
EXPORTED CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *p, struct CUipcMemHandle handle, unsigned flags)
{
	NEED(cuIpcOpenMemHandle_v2);
	CUresult r = d->cuIpcOpenMemHandle_v2(p, handle, flags);
	size_t size = 0;
	CUdeviceptr low;

	if (r || !p || !d->cuMemGetAddressRange_v2 || d->cuMemGetAddressRange_v2(&low, &size, *p))
		return r;
	return allocated(r, &low, size);
}

#define FREES(name, params, args, address) \
	EXPORTED CUresult name params \
	{ \
		NEED(name); \
		uint64_t number = ranges_find(address); \
\
		return freed(d->name args, address, number); \
	}
FREES(cuMemFree_v2, (CUdeviceptr p), (p), p)
FREES(cuMemFreeHost, (void *p), (p), (CUdeviceptr)p)
FREES(cuMemHostUnregister, (void *p), (p), (CUdeviceptr)p)
FREES(cuMemUnmap, (CUdeviceptr p, size_t size), (p, size), p)
