/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runtime: copies of one dimension, symbols, filling. */
#include "rt.h"

#define ADDR(p) ((CUdeviceptr)(uintptr_t)(p))
#define TRACE_COPY "0x%lx 0x%lx %zu %d", P(dst), P(src), size, (int)kind

/* The driver has one function a direction. */
static cudaError_t copy(int pt, void *dst, const void *src, size_t size,
			enum cudaMemcpyKind kind)
{
	CUresult r;

	RT_ENTER();
	if (!size)
		return cudaSuccess;
	switch (kind) {
	case cudaMemcpyHostToDevice:
		r = D->cuMemcpyHtoD_v2(ADDR(dst), src, size);
		break;
	case cudaMemcpyDeviceToHost:
		r = D->cuMemcpyDtoH_v2(dst, ADDR(src), size);
		break;
	case cudaMemcpyDeviceToDevice:
		r = D->cuMemcpyDtoD_v2(ADDR(dst), ADDR(src), size);
		break;
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
		r = D->cuMemcpy(ADDR(dst), ADDR(src), size);
		break;
	default:
		return cudaErrorInvalidMemcpyDirection;
	}
	return (cudaError_t)r;
}

static cudaError_t copy_async(int pt, void *dst, const void *src, size_t size,
			      enum cudaMemcpyKind kind, cudaStream_t stream)
{
	CUresult r;

	RT_ENTER();
	if (!size)
		return cudaSuccess;
	switch (kind) {
	case cudaMemcpyHostToDevice:
		r = D->cuMemcpyHtoDAsync_v2(ADDR(dst), src, size, stream);
		break;
	case cudaMemcpyDeviceToHost:
		r = D->cuMemcpyDtoHAsync_v2(dst, ADDR(src), size, stream);
		break;
	case cudaMemcpyDeviceToDevice:
		r = D->cuMemcpyDtoDAsync_v2(ADDR(dst), ADDR(src), size, stream);
		break;
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
		r = D->cuMemcpyAsync(ADDR(dst), ADDR(src), size, stream);
		break;
	default:
		return cudaErrorInvalidMemcpyDirection;
	}
	return (cudaError_t)r;
}

RT_PTDS(cudaMemcpy, (void *dst, const void *src, size_t size, enum cudaMemcpyKind kind),
	(dst, src, size, kind), TRACE_COPY)
{
	return copy(pt, dst, src, size, kind);
}

RT_PTSZ(cudaMemcpyAsync,
	(void *dst, const void *src, size_t size, enum cudaMemcpyKind kind, cudaStream_t stream),
	(dst, src, size, kind, stream), TRACE_COPY)
{
	return copy_async(pt, dst, src, size, kind, stream);
}

RT(cudaMemcpyPeer, (void *dst, int dst_dev, const void *src, int src_dev, size_t size),
   (dst, dst_dev, src, src_dev, size), "0x%lx %d 0x%lx %d %zu", P(dst), dst_dev, P(src),
   src_dev, size)
{
	pt_none;
	RT_ENTER();
	if (!rt_primary(dst_dev) || !rt_primary(src_dev))
		return cudaErrorInvalidDevice;
	return (cudaError_t)D->cuMemcpyPeer(ADDR(dst), rt_primary(dst_dev), ADDR(src),
					    rt_primary(src_dev), size);
}

RT(cudaMemcpyPeerAsync,
   (void *dst, int dst_dev, const void *src, int src_dev, size_t size, cudaStream_t stream),
   (dst, dst_dev, src, src_dev, size, stream), "0x%lx %d 0x%lx %d %zu", P(dst), dst_dev,
   P(src), src_dev, size)
{
	pt_none;
	RT_ENTER();
	if (!rt_primary(dst_dev) || !rt_primary(src_dev))
		return cudaErrorInvalidDevice;
	return (cudaError_t)D->cuMemcpyPeerAsync(ADDR(dst), rt_primary(dst_dev), ADDR(src),
						 rt_primary(src_dev), size, stream);
}

static cudaError_t to_symbol(int pt, const void *symbol, const void *src, size_t size,
			     size_t offset, enum cudaMemcpyKind kind, int async,
			     cudaStream_t stream)
{
	CUdeviceptr dst = 0;
	cudaError_t r;

	RT_ENTER();
	r = rt_symbol(symbol, size, offset, &dst);
	if (r)
		return r;
	return async ? copy_async(pt, (void *)(uintptr_t)dst, src, size, kind, stream) :
		copy(pt, (void *)(uintptr_t)dst, src, size, kind);
}

static cudaError_t from_symbol(int pt, void *dst, const void *symbol, size_t size,
			       size_t offset, enum cudaMemcpyKind kind, int async,
			       cudaStream_t stream)
{
	CUdeviceptr src = 0;
	cudaError_t r;

	RT_ENTER();
	r = rt_symbol(symbol, size, offset, &src);
	if (r)
		return r;
	return async ? copy_async(pt, dst, (void *)(uintptr_t)src, size, kind, stream) :
		copy(pt, dst, (void *)(uintptr_t)src, size, kind);
}

#define TRACE_SYMBOL "0x%lx %zu %d", P(symbol), size, (int)kind

RT_PTDS(cudaMemcpyToSymbol, (const void *symbol, const void *src, size_t size, size_t offset,
			     enum cudaMemcpyKind kind),
	(symbol, src, size, offset, kind), TRACE_SYMBOL)
{
	return to_symbol(pt, symbol, src, size, offset, kind, 0, NULL);
}

RT_PTDS(cudaMemcpyFromSymbol, (void *dst, const void *symbol, size_t size, size_t offset,
			       enum cudaMemcpyKind kind),
	(dst, symbol, size, offset, kind), TRACE_SYMBOL)
{
	return from_symbol(pt, dst, symbol, size, offset, kind, 0, NULL);
}

RT_PTSZ(cudaMemcpyToSymbolAsync, (const void *symbol, const void *src, size_t size,
				  size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream),
	(symbol, src, size, offset, kind, stream), TRACE_SYMBOL)
{
	return to_symbol(pt, symbol, src, size, offset, kind, 1, stream);
}

RT_PTSZ(cudaMemcpyFromSymbolAsync, (void *dst, const void *symbol, size_t size, size_t offset,
				    enum cudaMemcpyKind kind, cudaStream_t stream),
	(dst, symbol, size, offset, kind, stream), TRACE_SYMBOL)
{
	return from_symbol(pt, dst, symbol, size, offset, kind, 1, stream);
}

RT(cudaGetSymbolAddress, (void **ptr, const void *symbol), (ptr, symbol), "0x%lx", P(symbol))
{
	RT_ENTER();
	return ptr ? rt_symbol(symbol, 0, 0, (CUdeviceptr *)ptr) : cudaErrorInvalidValue;
}

#define TRACE_SET "0x%lx %d %zu", P(ptr), value, size
#define TRACE_SET_2D "0x%lx %d %zu %zu", P(ptr), value, width, height
#define TRACE_SET_3D "0x%lx %d %zu %zu %zu", P(ptr.ptr), value, extent.width, extent.height, \
	extent.depth

RT_PTDS(cudaMemset, (void *ptr, int value, size_t size), (ptr, value, size), TRACE_SET)
{
	RT_ENTER();
	return (cudaError_t)D->cuMemsetD8_v2(ADDR(ptr), (unsigned char)value, size);
}

RT_PTSZ(cudaMemsetAsync, (void *ptr, int value, size_t size, cudaStream_t stream),
	(ptr, value, size, stream), TRACE_SET)
{
	RT_ENTER();
	return (cudaError_t)D->cuMemsetD8Async(ADDR(ptr), (unsigned char)value, size, stream);
}

RT_PTDS(cudaMemset2D, (void *ptr, size_t pitch, int value, size_t width, size_t height),
	(ptr, pitch, value, width, height), TRACE_SET_2D)
{
	RT_ENTER();
	return (cudaError_t)D->cuMemsetD2D8_v2(ADDR(ptr), pitch, (unsigned char)value, width,
					       height);
}

RT_PTSZ(cudaMemset2DAsync, (void *ptr, size_t pitch, int value, size_t width, size_t height,
			    cudaStream_t stream),
	(ptr, pitch, value, width, height, stream), TRACE_SET_2D)
{
	RT_ENTER();
	return (cudaError_t)D->cuMemsetD2D8Async(ADDR(ptr), pitch, (unsigned char)value, width,
						 height, stream);
}

RT_PTDS(cudaMemset3D, (struct cudaPitchedPtr ptr, int value, struct cudaExtent extent),
	(ptr, value, extent), TRACE_SET_3D)
{
	RT_ENTER();
	return (cudaError_t)D->cuMemsetD2D8_v2(ADDR(ptr.ptr), ptr.pitch, (unsigned char)value,
					       extent.width, extent.height * extent.depth);
}

RT_PTSZ(cudaMemset3DAsync, (struct cudaPitchedPtr ptr, int value, struct cudaExtent extent,
			    cudaStream_t stream),
	(ptr, value, extent, stream), TRACE_SET_3D)
{
	RT_ENTER();
	return (cudaError_t)D->cuMemsetD2D8Async(ADDR(ptr.ptr), ptr.pitch, (unsigned char)value,
						 extent.width, extent.height * extent.depth,
						 stream);
}
