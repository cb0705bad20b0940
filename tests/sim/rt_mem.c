/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runtime: device, managed and host memory, IPC. */
#include <string.h>

#include "rt.h"

#define ADDR(p) ((CUdeviceptr)(uintptr_t)(p))

RT(cudaMalloc, (void **ptr, size_t size), (ptr, size), "%zu 0x%lx", size, OUT(ptr))
{
	pt_none;
	RT_ENTER();
	if (!ptr)
		return cudaErrorInvalidValue;
	if (!size) {
		*ptr = NULL;
		return cudaSuccess;
	}
	return (cudaError_t)D->cuMemAlloc_v2((CUdeviceptr *)ptr, size);
}

RT(cudaFree, (void *ptr), (ptr), "0x%lx", P(ptr))
{
	pt_none;
	RT_ENTER();
	return ptr ? (cudaError_t)D->cuMemFree_v2(ADDR(ptr)) : cudaSuccess;
}

RT(cudaMallocManaged, (void **ptr, size_t size, unsigned flags), (ptr, size, flags),
   "%zu 0x%lx", size, OUT(ptr))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuMemAllocManaged((CUdeviceptr *)ptr, size, flags);
}

RT(cudaMallocPitch, (void **ptr, size_t *pitch, size_t width, size_t height),
   (ptr, pitch, width, height), "%zu %zu 0x%lx", width, height, OUT(ptr))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuMemAllocPitch_v2((CUdeviceptr *)ptr, pitch, width, height, 4);
}

RT(cudaMalloc3D, (struct cudaPitchedPtr *ptr, struct cudaExtent extent), (ptr, extent),
   "%zu %zu %zu 0x%lx", extent.width, extent.height, extent.depth,
   ret || !ptr ? 0 : P(ptr->ptr))
{
	pt_none;
	cudaError_t r;

	RT_ENTER();
	if (!ptr)
		return cudaErrorInvalidValue;
	r = (cudaError_t)D->cuMemAllocPitch_v2((CUdeviceptr *)&ptr->ptr, &ptr->pitch,
		extent.width, extent.height * extent.depth, 4);
	ptr->xsize = extent.width;
	ptr->ysize = extent.height;
	return r;
}

RT(cudaMallocHost, (void **ptr, size_t size), (ptr, size), "%zu 0x%lx", size, OUT(ptr))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuMemHostAlloc(ptr, size, 0);
}

RT(cudaHostAlloc, (void **ptr, size_t size, unsigned flags), (ptr, size, flags),
   "%zu 0x%lx", size, OUT(ptr))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuMemHostAlloc(ptr, size, flags);
}

RT(cudaFreeHost, (void *ptr), (ptr), "0x%lx", P(ptr))
{
	pt_none;
	RT_ENTER();
	return ptr ? (cudaError_t)D->cuMemFreeHost(ptr) : cudaSuccess;
}

RT(cudaHostRegister, (void *ptr, size_t size, unsigned flags), (ptr, size, flags),
   "0x%lx %zu", P(ptr), size)
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuMemHostRegister_v2(ptr, size, flags);
}

RT(cudaHostUnregister, (void *ptr), (ptr), "0x%lx", P(ptr))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuMemHostUnregister(ptr);
}

RT(cudaHostGetDevicePointer, (void **ptr, void *host, unsigned flags), (ptr, host, flags),
   "0x%lx 0x%lx", P(host), OUT(ptr))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuMemHostGetDevicePointer_v2((CUdeviceptr *)ptr, host, flags);
}

RT(cudaHostGetFlags, (unsigned *flags, void *host), (flags, host), "0x%lx", P(host))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuMemHostGetFlags(flags, host);
}

RT(cudaMemGetInfo, (size_t *free_bytes, size_t *total), (free_bytes, total), "%lu %lu",
   OUT(free_bytes), OUT(total))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuMemGetInfo_v2(free_bytes, total);
}

RT(cudaPointerGetAttributes, (struct cudaPointerAttributes *a, const void *ptr), (a, ptr),
   "0x%lx", P(ptr))
{
	pt_none;
	unsigned type = 0, managed = 0;

	RT_ENTER();
	if (!a)
		return cudaErrorInvalidValue;
	memset(a, 0, sizeof(*a));
	a->device = -1;
	a->hostPointer = (void *)ptr;
	if (D->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, ADDR(ptr)))
		return cudaSuccess;	/* plain host memory */
	D->cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, ADDR(ptr));
	D->cuPointerGetAttribute(&a->device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, ADDR(ptr));
	a->devicePointer = (void *)ptr;
	if (managed) {
		a->type = cudaMemoryTypeManaged;
	} else if (type == CU_MEMORYTYPE_HOST) {
		a->type = cudaMemoryTypeHost;
	} else {
		a->type = cudaMemoryTypeDevice;
		a->hostPointer = NULL;
	}
	return cudaSuccess;
}

/* CUDA 12 has these by other prototypes. */
#if SIM_CUDART >= 13
static CUmemLocation location(struct cudaMemLocation where)
{
	CUmemLocation l = { .type = (CUmemLocationType)where.type };

	l.id = where.id;
	return l;
}

RT(cudaMemAdvise, (const void *ptr, size_t size, enum cudaMemoryAdvise advice,
		   struct cudaMemLocation where), (ptr, size, advice, where),
   "0x%lx %zu", P(ptr), size)
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuMemAdvise_v2(ADDR(ptr), size, (CUmem_advise)advice,
					      location(where));
}

RT_PTSZ(cudaMemPrefetchAsync, (const void *ptr, size_t size, struct cudaMemLocation where,
			       unsigned flags, cudaStream_t stream),
	(ptr, size, where, flags, stream), "0x%lx %zu", P(ptr), size)
{
	RT_ENTER();
	return (cudaError_t)D->cuMemPrefetchAsync_v2(ADDR(ptr), size, location(where), flags,
						     stream);
}
#endif
