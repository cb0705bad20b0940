/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: virtual memory management. What is stored belongs to the address
 * range, not to the handle mapped there: enough for programs that use both right.
 */
#include "drv.h"

#define GRANULARITY (2ULL << 20)

DRV(cuMemAddressReserve,
    (CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr, unsigned long long flags),
    (ptr, size, alignment, addr, flags), "%zu 0x%lx", size, OUT(ptr))
{
	struct block *b;

	(void)addr;
	if (!ptr || !size || size % GRANULARITY || flags || (alignment & (alignment - 1)))
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&drv_lock);
	b = block_new(K_RANGE, VMM_SPACE, -1, size);
	if (b)
		*ptr = b->key;
	pthread_mutex_unlock(&drv_lock);
	return b ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

DRV(cuMemAddressFree, (CUdeviceptr ptr, size_t size), (ptr, size), "0x%lx %zu", P(ptr), size)
{
	struct block *b;
	uint64_t p;

	pthread_mutex_lock(&drv_lock);
	b = block_find(ptr, K_RANGE);
	if (b && b->size != size)
		b = NULL;
	for (p = ptr; b && p < ptr + size; p += GRANULARITY)
		if (block_find(p, K_MAP))
			b = NULL;
	if (b)
		block_free(b);
	pthread_mutex_unlock(&drv_lock);
	return b ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Sets the device, -1: the host.  The host's has no number that counts, a NUMA node has one. */
int drv_location(const CUmemLocation *location, int *dev)
{
	*dev = -1;
	if (location->type == CU_MEM_LOCATION_TYPE_DEVICE)
		*dev = location->id;
	return location->type == CU_MEM_LOCATION_TYPE_DEVICE ? *dev >= 0 && *dev < drv_devices :
	       location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA ? location->id >= 0 :
	       location->type == CU_MEM_LOCATION_TYPE_HOST || location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

DRV(cuMemCreate,
    (CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
     unsigned long long flags),
    (handle, size, prop, flags), "%zu 0x%lx", size, OUT(handle))
{
	struct block *b;
	int dev;

	if (!handle || !size || size % GRANULARITY || !prop || flags || !drv_location(&prop->location, &dev))
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&drv_lock);
	b = block_new(K_HANDLE, VMM_SPACE, dev, size);
	if (b)
		*handle = b->key;
	pthread_mutex_unlock(&drv_lock);
	return b ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* An object without memory of its own, which has the size of what can be bound to it. */
DRV(cuMulticastCreate,
    (CUmemGenericAllocationHandle *handle, const CUmulticastObjectProp *prop), (handle, prop),
    "%zu 0x%lx", prop ? prop->size : 0, OUT(handle))
{
	struct block *b;

	if (!handle || !prop || !prop->size || prop->size % GRANULARITY)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&drv_lock);
	b = block_new(K_HANDLE, VMM_SPACE, -1, prop->size);
	if (b)
		*handle = b->key;
	pthread_mutex_unlock(&drv_lock);
	return b ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Its memory goes when no handle and no mapping is left. */
static void handle_put(struct block *b)
{
	if (--b->refs == 0)
		block_free(b);
}

DRV(cuMemRelease, (CUmemGenericAllocationHandle handle), (handle), "0x%lx", P(handle))
{
	struct block *b;

	pthread_mutex_lock(&drv_lock);
	b = block_find(handle, K_HANDLE);
	if (b)
		handle_put(b);
	pthread_mutex_unlock(&drv_lock);
	return b ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

DRV(cuMemRetainAllocationHandle, (CUmemGenericAllocationHandle *handle, void *addr),
    (handle, addr), "0x%lx 0x%lx", P(addr), OUT(handle))
{
	struct block *b;

	if (!handle)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&drv_lock);
	b = block_around(P(addr), K_MAP);
	if (b) {
		b->target->refs++;
		*handle = b->target->key;
	}
	pthread_mutex_unlock(&drv_lock);
	return b ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

DRV(cuMemMap,
    (CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
     unsigned long long flags),
    (ptr, size, offset, handle, flags), "0x%lx %zu 0x%lx", P(ptr), size, P(handle))
{
	CUresult r = CUDA_ERROR_INVALID_VALUE;
	struct block *b, *map;

	if (!size || size % GRANULARITY || ptr % GRANULARITY || flags)
		return r;
	pthread_mutex_lock(&drv_lock);
	b = block_find(handle, K_HANDLE);
	if (b && offset <= b->size && size <= b->size - offset &&
	    space_holds(VMM_SPACE, ptr) && !block_find(ptr, K_MAP)) {
		map = block_wrap(K_MAP, ptr, size);
		r = CUDA_ERROR_OUT_OF_MEMORY;
		if (map) {
			map->target = b;
			b->refs++;
			r = CUDA_SUCCESS;
		}
	}
	pthread_mutex_unlock(&drv_lock);
	return r;
}

DRV(cuMemUnmap, (CUdeviceptr ptr, size_t size), (ptr, size), "0x%lx %zu", P(ptr), size)
{
	CUresult r = CUDA_SUCCESS;
	struct block *map, *b;
	uint64_t p = ptr;

	if (!size)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&drv_lock);
	while (!r && p < ptr + size) {
		map = block_find(p, K_MAP);
		if (!map || map->size > ptr + size - p) {
			r = CUDA_ERROR_INVALID_VALUE;
			break;
		}
		p += map->size;
		b = map->target;
		block_free(map);
		handle_put(b);
	}
	pthread_mutex_unlock(&drv_lock);
	return r;
}

DRV(cuMemSetAccess,
    (CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count),
    (ptr, size, desc, count), "0x%lx %zu", P(ptr), size)
{
	struct block *b;

	pthread_mutex_lock(&drv_lock);
	b = block_around(ptr, K_MAP);
	pthread_mutex_unlock(&drv_lock);
	return b && size && desc && count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

DRV_QUIET(cuMemGetAllocationGranularity)(size_t *granularity, const CUmemAllocationProp *prop,
					 CUmemAllocationGranularity_flags option)
{
	(void)option;
	if (!granularity || !prop)
		return CUDA_ERROR_INVALID_VALUE;
	*granularity = GRANULARITY;
	return CUDA_SUCCESS;
}
