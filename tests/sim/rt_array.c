/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runtime: arrays, stream-ordered allocations, pools. */
#include <string.h>

#include "rt.h"

void rt_describe(CUDA_ARRAY3D_DESCRIPTOR *d, const struct cudaChannelFormatDesc *c,
		 size_t width, size_t height, size_t depth, unsigned flags)
{
	static const CUarray_format formats[3][3] = {
		{ CU_AD_FORMAT_SIGNED_INT8, CU_AD_FORMAT_SIGNED_INT16, CU_AD_FORMAT_SIGNED_INT32 },
		{ CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16,
		  CU_AD_FORMAT_UNSIGNED_INT32 },
		{ CU_AD_FORMAT_HALF, CU_AD_FORMAT_HALF, CU_AD_FORMAT_FLOAT },
	};
	unsigned kind = (unsigned)c->f < 3 ? c->f : 0;

	memset(d, 0, sizeof(*d));
	d->Format = formats[kind][c->x == 8 ? 0 : c->x == 16 ? 1 : 2];
	d->NumChannels = (c->x > 0) + (c->y > 0) + (c->z > 0) + (c->w > 0);
	d->Width = width;
	d->Height = height;
	d->Depth = depth;
	d->Flags = flags;
}

RT(cudaMallocArray, (cudaArray_t *array, const struct cudaChannelFormatDesc *format,
		     size_t width, size_t height, unsigned flags),
   (array, format, width, height, flags), "%zu %zu 0x%lx", width, height, OUT(array))
{
	pt_none;
	CUDA_ARRAY3D_DESCRIPTOR d;
	CUDA_ARRAY_DESCRIPTOR flat = { 0 };

	RT_ENTER();
	if (!format)
		return cudaErrorInvalidValue;
	rt_describe(&d, format, width, height, 0, flags);
	if (flags)
		return (cudaError_t)D->cuArray3DCreate_v2((CUarray *)array, &d);
	flat.Width = d.Width;
	flat.Height = d.Height;
	flat.Format = d.Format;
	flat.NumChannels = d.NumChannels;
	return (cudaError_t)D->cuArrayCreate_v2((CUarray *)array, &flat);
}

RT(cudaMalloc3DArray, (cudaArray_t *array, const struct cudaChannelFormatDesc *format,
		       struct cudaExtent extent, unsigned flags),
   (array, format, extent, flags), "%zu %zu %zu 0x%lx",
   extent.width, extent.height, extent.depth, OUT(array))
{
	pt_none;
	CUDA_ARRAY3D_DESCRIPTOR d;

	RT_ENTER();
	if (!format)
		return cudaErrorInvalidValue;
	rt_describe(&d, format, extent.width, extent.height, extent.depth, flags);
	return (cudaError_t)D->cuArray3DCreate_v2((CUarray *)array, &d);
}

RT(cudaFreeArray, (cudaArray_t array), (array), "0x%lx", P(array))
{
	pt_none;
	RT_ENTER();
	return array ? (cudaError_t)D->cuArrayDestroy((CUarray)array) : cudaSuccess;
}

RT(cudaMallocMipmappedArray,
   (cudaMipmappedArray_t *array, const struct cudaChannelFormatDesc *format,
    struct cudaExtent extent, unsigned levels, unsigned flags),
   (array, format, extent, levels, flags), "%zu %zu %zu %u 0x%lx",
   extent.width, extent.height, extent.depth, levels, OUT(array))
{
	pt_none;
	CUDA_ARRAY3D_DESCRIPTOR d;

	RT_ENTER();
	if (!format)
		return cudaErrorInvalidValue;
	rt_describe(&d, format, extent.width, extent.height, extent.depth, flags);
	return (cudaError_t)D->cuMipmappedArrayCreate((CUmipmappedArray *)array, &d, levels);
}

RT(cudaGetMipmappedArrayLevel,
   (cudaArray_t *level_array, cudaMipmappedArray_const_t array, unsigned level),
   (level_array, array, level), "0x%lx %u 0x%lx", P(array), level, OUT(level_array))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuMipmappedArrayGetLevel((CUarray *)level_array,
		(CUmipmappedArray)(uintptr_t)array, level);
}

RT(cudaFreeMipmappedArray, (cudaMipmappedArray_t array), (array), "0x%lx", P(array))
{
	pt_none;
	RT_ENTER();
	return array ? (cudaError_t)D->cuMipmappedArrayDestroy((CUmipmappedArray)array) :
		cudaSuccess;
}

RT_PTSZ(cudaMallocAsync, (void **ptr, size_t size, cudaStream_t stream), (ptr, size, stream),
	"%zu 0x%lx", size, OUT(ptr))
{
	RT_ENTER();
	return (cudaError_t)D->cuMemAllocAsync((CUdeviceptr *)ptr, size, stream);
}

RT_PTSZ(cudaFreeAsync, (void *ptr, cudaStream_t stream), (ptr, stream), "0x%lx", P(ptr))
{
	RT_ENTER();
	return (cudaError_t)D->cuMemFreeAsync((CUdeviceptr)(uintptr_t)ptr, stream);
}

RT_PTSZ(cudaMallocFromPoolAsync,
	(void **ptr, size_t size, cudaMemPool_t pool, cudaStream_t stream),
	(ptr, size, pool, stream), "%zu 0x%lx 0x%lx", size, P(pool), OUT(ptr))
{
	RT_ENTER();
	return (cudaError_t)D->cuMemAllocFromPoolAsync((CUdeviceptr *)ptr, size,
						       (CUmemoryPool)pool, stream);
}

RT(cudaMemPoolCreate, (cudaMemPool_t *pool, const struct cudaMemPoolProps *props), (pool, props),
   "0x%lx", OUT(pool))
{
	pt_none;
	CUmemPoolProps p = { 0 };

	RT_ENTER();
	if (!props)
		return cudaErrorInvalidValue;
	p.allocType = (CUmemAllocationType)props->allocType;
	p.handleTypes = (CUmemAllocationHandleType)props->handleTypes;
	p.location.type = (CUmemLocationType)props->location.type;
	p.location.id = props->location.id;
	p.maxSize = props->maxSize;
	return (cudaError_t)D->cuMemPoolCreate((CUmemoryPool *)pool, &p);
}

RT(cudaMemPoolDestroy, (cudaMemPool_t pool), (pool), "0x%lx", P(pool))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuMemPoolDestroy((CUmemoryPool)pool);
}

RT(cudaMemPoolSetAttribute, (cudaMemPool_t pool, enum cudaMemPoolAttr attr, void *value),
   (pool, attr, value), "0x%lx", P(pool))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuMemPoolSetAttribute((CUmemoryPool)pool,
						     (CUmemPool_attribute)attr, value);
}

RT(cudaMemPoolGetAttribute, (cudaMemPool_t pool, enum cudaMemPoolAttr attr, void *value),
   (pool, attr, value), "0x%lx", P(pool))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuMemPoolGetAttribute((CUmemoryPool)pool,
						     (CUmemPool_attribute)attr, value);
}

RT(cudaMemPoolTrimTo, (cudaMemPool_t pool, size_t keep), (pool, keep), "0x%lx", P(pool))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuMemPoolTrimTo((CUmemoryPool)pool, keep);
}

RT(cudaDeviceGetDefaultMemPool, (cudaMemPool_t *pool, int dev), (pool, dev), "%d", dev)
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuDeviceGetDefaultMemPool((CUmemoryPool *)pool, dev);
}

RT(cudaDeviceGetMemPool, (cudaMemPool_t *pool, int dev), (pool, dev), "%d", dev)
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuDeviceGetMemPool((CUmemoryPool *)pool, dev);
}

RT(cudaDeviceSetMemPool, (int dev, cudaMemPool_t pool), (dev, pool), "%d", dev)
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuDeviceSetMemPool(dev, (CUmemoryPool)pool);
}
