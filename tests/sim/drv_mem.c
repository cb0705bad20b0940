/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: device, managed and host memory. */

#include "drv.h"

static CUresult alloc(CUdeviceptr *ptr, enum kind kind, int space, int charged, size_t size)
{
	CUresult r = drv_check();
	struct block *b;

	if (r)
		return r;
	if (!ptr || !size)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&drv_lock);
	b = block_new(kind, space, charged, size);
	if (b)
		*ptr = b->key;
	pthread_mutex_unlock(&drv_lock);
	return b ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult release(uint64_t key, unsigned kinds)
{
	struct block *b;

	pthread_mutex_lock(&drv_lock);
	b = block_find(key, kinds);
	if (b)
		block_free(b);
	pthread_mutex_unlock(&drv_lock);
	return b ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static int device(void)
{
	CUcontext ctx = drv_current();

	return ctx ? ctx->dev : 0;
}

DRV(cuMemAlloc_v2, (CUdeviceptr *ptr, size_t size), (ptr, size),
    "%zu 0x%lx", size, OUT(ptr))
{
	return alloc(ptr, K_DEVICE, device(), device(), size);
}

DRV(cuMemAllocPitch_v2,
    (CUdeviceptr *ptr, size_t *pitch, size_t width, size_t height, unsigned element),
    (ptr, pitch, width, height, element),
    "%zu %zu 0x%lx", width, height, OUT(ptr))
{
	if (!pitch || (element != 4 && element != 8 && element != 16))
		return CUDA_ERROR_INVALID_VALUE;
	*pitch = (width + 511) / 512 * 512;
	return alloc(ptr, K_DEVICE, device(), device(), *pitch * height);
}

DRV(cuMemAllocManaged, (CUdeviceptr *ptr, size_t size, unsigned flags), (ptr, size, flags),
    "%zu 0x%lx", size, OUT(ptr))
{
	if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
		return CUDA_ERROR_INVALID_VALUE;
	return alloc(ptr, K_MANAGED, device(), device(), size);
}

DRV(cuMemFree_v2, (CUdeviceptr ptr), (ptr), "0x%lx", P(ptr))
{
	CUresult r = unlikely(drv_faults) ? drv_sync() : CUDA_SUCCESS;	/* it waits */

	return r || !ptr ? r : release(ptr, K_DEVICE | K_MANAGED);
}

static CUresult host_alloc(void **ptr, size_t size)
{
	CUdeviceptr p = 0;
	CUresult r;

	if (!ptr)
		return CUDA_ERROR_INVALID_VALUE;
	r = alloc(&p, K_HOST, HOST_SPACE, -1, size);
	if (!r)
		*ptr = (void *)(uintptr_t)p;
	return r;
}

DRV(cuMemAllocHost_v2, (void **ptr, size_t size), (ptr, size), "%zu 0x%lx", size, OUT(ptr))
{
	return host_alloc(ptr, size);
}

DRV(cuMemHostAlloc, (void **ptr, size_t size, unsigned flags), (ptr, size, flags),
    "%zu 0x%lx", size, OUT(ptr))
{
	return flags & ~7U ? CUDA_ERROR_INVALID_VALUE : host_alloc(ptr, size);
}

DRV(cuMemFreeHost, (void *ptr), (ptr), "0x%lx", P(ptr))
{
	return release(P(ptr), K_HOST);
}

DRV(cuMemHostRegister_v2, (void *ptr, size_t size, unsigned flags), (ptr, size, flags),
    "0x%lx %zu", P(ptr), size)
{
	CUresult r = drv_check();

	(void)flags;
	if (r)
		return r;
	if (!ptr || !size)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&drv_lock);
	if (block_find(P(ptr), K_HOST | K_REGISTERED))
		r = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	else if (!block_wrap(K_REGISTERED, P(ptr), size))
		r = CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_unlock(&drv_lock);
	return r;
}

DRV(cuMemHostUnregister, (void *ptr), (ptr), "0x%lx", P(ptr))
{
	return release(P(ptr), K_REGISTERED) ? CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED : CUDA_SUCCESS;
}

DRV_QUIET(cuMemHostGetDevicePointer_v2)(CUdeviceptr *ptr, void *host, unsigned flags)
{
	struct block *b;

	(void)flags;
	pthread_mutex_lock(&drv_lock);
	b = block_around(P(host), K_HOST | K_REGISTERED | K_MANAGED);
	pthread_mutex_unlock(&drv_lock);
	if (!ptr || !b)
		return CUDA_ERROR_INVALID_VALUE;
	*ptr = P(host);
	return CUDA_SUCCESS;
}

DRV_QUIET(cuMemHostGetFlags)(unsigned *flags, void *host)
{
	(void)host;
	if (!flags)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;
	return CUDA_SUCCESS;
}

DRV_QUIET(cuMemGetInfo_v2)(size_t *free_bytes, size_t *total)
{
	CUresult r = drv_check();

	if (r)
		return r;
	if (!free_bytes || !total)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&drv_lock);
	*free_bytes = drv_memory - drv_used(device());
	*total = drv_memory;
	pthread_mutex_unlock(&drv_lock);
	return CUDA_SUCCESS;
}

DRV_QUIET(cuMemGetAddressRange_v2)(CUdeviceptr *base, size_t *size, CUdeviceptr ptr)
{
	struct block *b;

	pthread_mutex_lock(&drv_lock);
	b = block_around(ptr, K_DEVICE | K_MANAGED | K_HOST | K_IPC | K_MAP);
	if (b && base)
		*base = b->addr;
	if (b && size)
		*size = b->size;
	pthread_mutex_unlock(&drv_lock);
	return b ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

DRV_QUIET(cuPointerGetAttribute)(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
	struct block *b, copy = { .kind = K_DEVICE };

	pthread_mutex_lock(&drv_lock);
	b = block_around(ptr, K_DEVICE | K_MANAGED | K_HOST | K_REGISTERED | K_IPC | K_MAP);
	if (b)
		copy = *b;
	pthread_mutex_unlock(&drv_lock);
	if (!data || !b)
		return CUDA_ERROR_INVALID_VALUE;
	switch ((int)attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		*(CUcontext *)data = copy.ctx;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(unsigned *)data = copy.kind & (K_HOST | K_REGISTERED) ?
			CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		*(CUdeviceptr *)data = ptr;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(unsigned *)data = copy.kind == K_MANAGED;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int *)data = copy.ctx ? copy.ctx->dev : 0;
		return CUDA_SUCCESS;
	}
	return CUDA_ERROR_NOT_SUPPORTED;
}

DRV_QUIET(cuMemAdvise_v2)(CUdeviceptr ptr, size_t size, CUmem_advise advice, CUmemLocation where)
{
	(void)advice, (void)where;
	return ptr && size ? drv_check() : CUDA_ERROR_INVALID_VALUE;
}

DRV_PTSZ(cuMemPrefetchAsync_v2,
	 (CUdeviceptr ptr, size_t size, CUmemLocation where, unsigned flags, CUstream stream),
	 (ptr, size, where, flags, stream), "0x%lx %zu", P(ptr), size)
{
	(void)where, (void)flags, (void)stream;
	return ptr && size ? drv_check() : CUDA_ERROR_INVALID_VALUE;
}
