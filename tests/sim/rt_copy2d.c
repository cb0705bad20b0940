/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runtime: copies of two and three dimensions, to and from arrays. */
#include <string.h>

#include "rt.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define ADDR(p) ((CUdeviceptr)(uintptr_t)(p))

static void source(CUDA_MEMCPY2D *c, const void *p, size_t pitch, int on_host)
{
	c->srcMemoryType = on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_UNIFIED;
	c->srcHost = p;
	c->srcDevice = ADDR(p);
	c->srcPitch = pitch;
}

static void target(CUDA_MEMCPY2D *c, void *p, size_t pitch, int on_host)
{
	c->dstMemoryType = on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_UNIFIED;
	c->dstHost = p;
	c->dstDevice = ADDR(p);
	c->dstPitch = pitch;
}

static void source_array(CUDA_MEMCPY2D *c, cudaArray_const_t a, size_t x, size_t y)
{
	c->srcMemoryType = CU_MEMORYTYPE_ARRAY;
	c->srcArray = (CUarray)(uintptr_t)a;
	c->srcXInBytes = x;
	c->srcY = y;
}

static void target_array(CUDA_MEMCPY2D *c, cudaArray_t a, size_t x, size_t y)
{
	c->dstMemoryType = CU_MEMORYTYPE_ARRAY;
	c->dstArray = (CUarray)a;
	c->dstXInBytes = x;
	c->dstY = y;
}

#define FROM_HOST(kind) ((kind) == cudaMemcpyHostToDevice || (kind) == cudaMemcpyHostToHost)
#define TO_HOST(kind) ((kind) == cudaMemcpyDeviceToHost || (kind) == cudaMemcpyHostToHost)
#define TRACE_2D "%zu %zu %d", width, height, (int)kind

/* Each function is one way to fill in the driver's description. */
#define COPY_2D(name, params, args, fill) \
	RT_PTDS(name, (RT_UNPAREN params, size_t width, size_t height, \
		       enum cudaMemcpyKind kind), \
		(RT_UNPAREN args, width, height, kind), TRACE_2D) \
	{ \
		CUDA_MEMCPY2D c = { .WidthInBytes = width, .Height = height }; \
		(void)kind; \
		RT_ENTER(); \
		RT_UNPAREN fill; \
		return (cudaError_t)D->cuMemcpy2DUnaligned_v2(&c); \
	}
#define COPY_2D_ASYNC(name, params, args, fill) \
	RT_PTSZ(name, (RT_UNPAREN params, size_t width, size_t height, \
		       enum cudaMemcpyKind kind, cudaStream_t stream), \
		(RT_UNPAREN args, width, height, kind, stream), TRACE_2D) \
	{ \
		CUDA_MEMCPY2D c = { .WidthInBytes = width, .Height = height }; \
		(void)kind; \
		RT_ENTER(); \
		RT_UNPAREN fill; \
		return (cudaError_t)D->cuMemcpy2DAsync_v2(&c, stream); \
	}
#define COPY_2D_BOTH(name, params, args, fill) \
	COPY_2D(name, params, args, fill) COPY_2D_ASYNC(name##Async, params, args, fill)

COPY_2D_BOTH(cudaMemcpy2D,
	     (void *dst, size_t dpitch, const void *src, size_t spitch),
	     (dst, dpitch, src, spitch),
	     (target(&c, dst, dpitch, TO_HOST(kind)), source(&c, src, spitch, FROM_HOST(kind))))
COPY_2D_BOTH(cudaMemcpy2DToArray,
	     (cudaArray_t dst, size_t x, size_t y, const void *src, size_t spitch),
	     (dst, x, y, src, spitch),
	     (target_array(&c, dst, x, y), source(&c, src, spitch, FROM_HOST(kind))))
COPY_2D_BOTH(cudaMemcpy2DFromArray,
	     (void *dst, size_t dpitch, cudaArray_const_t src, size_t x, size_t y),
	     (dst, dpitch, src, x, y),
	     (target(&c, dst, dpitch, TO_HOST(kind)), source_array(&c, src, x, y)))
COPY_2D(cudaMemcpy2DArrayToArray,
	(cudaArray_t dst, size_t dx, size_t dy, cudaArray_const_t src, size_t sx, size_t sy),
	(dst, dx, dy, src, sx, sy),
	(target_array(&c, dst, dx, dy), source_array(&c, src, sx, sy)))

/* What an array's x counts is elements. */
static size_t element(cudaArray_t a)
{
	pt_none;
	static const unsigned char bytes[] = { [CU_AD_FORMAT_UNSIGNED_INT8] = 1,
		[CU_AD_FORMAT_SIGNED_INT8] = 1, [CU_AD_FORMAT_UNSIGNED_INT16] = 2,
		[CU_AD_FORMAT_SIGNED_INT16] = 2, [CU_AD_FORMAT_HALF] = 2,
		[CU_AD_FORMAT_UNSIGNED_INT32] = 4, [CU_AD_FORMAT_SIGNED_INT32] = 4,
		[CU_AD_FORMAT_FLOAT] = 4 };
	CUDA_ARRAY3D_DESCRIPTOR d;

	if (!a || D->cuArray3DGetDescriptor_v2(&d, (CUarray)a) ||
	    (unsigned)d.Format >= sizeof(bytes))
		return 1;
	return bytes[d.Format] * d.NumChannels;
}

/* More bytes than an array's row has are whole rows. */
static void whole_rows(CUDA_MEMCPY2D *c, int to_array)
{
	pt_none;
	CUarray array = to_array ? c->dstArray : c->srcArray;
	size_t row, size = c->WidthInBytes;
	CUDA_ARRAY3D_DESCRIPTOR d;

	if ((to_array ? c->dstXInBytes : c->srcXInBytes) ||
	    D->cuArray3DGetDescriptor_v2(&d, array))
		return;
	row = d.Width * element((cudaArray_t)array);
	if (size <= row || size % row)
		return;
	c->WidthInBytes = row;
	c->Height = size / row;
	*(to_array ? &c->srcPitch : &c->dstPitch) = row;
}

/* The old ones: bytes in a row, or in several. */
#define COPY_ROW(name, params, args, fill) \
	RT_PTDS(name, (RT_UNPAREN params, size_t size, enum cudaMemcpyKind kind), \
		(RT_UNPAREN args, size, kind), "%zu %d", size, (int)kind) \
	{ \
		CUDA_MEMCPY2D c = { .WidthInBytes = size, .Height = 1 }; \
		(void)kind; \
		RT_ENTER(); \
		RT_UNPAREN fill; \
		return (cudaError_t)D->cuMemcpy2DUnaligned_v2(&c); \
	}
#define COPY_ROW_ASYNC(name, params, args, fill) \
	RT_PTSZ(name, (RT_UNPAREN params, size_t size, enum cudaMemcpyKind kind, \
		       cudaStream_t stream), \
		(RT_UNPAREN args, size, kind, stream), "%zu %d", size, (int)kind) \
	{ \
		CUDA_MEMCPY2D c = { .WidthInBytes = size, .Height = 1 }; \
		(void)kind; \
		RT_ENTER(); \
		RT_UNPAREN fill; \
		return (cudaError_t)D->cuMemcpy2DAsync_v2(&c, stream); \
	}
#define COPY_ROW_BOTH(name, params, args, fill) \
	COPY_ROW(name, params, args, fill) COPY_ROW_ASYNC(name##Async, params, args, fill)

COPY_ROW_BOTH(cudaMemcpyToArray, (cudaArray_t dst, size_t x, size_t y, const void *src),
	      (dst, x, y, src),
	      (target_array(&c, dst, x, y), source(&c, src, 0, FROM_HOST(kind)), whole_rows(&c, 1)))
COPY_ROW_BOTH(cudaMemcpyFromArray, (void *dst, cudaArray_const_t src, size_t x, size_t y),
	      (dst, src, x, y),
	      (target(&c, dst, 0, TO_HOST(kind)), source_array(&c, src, x, y), whole_rows(&c, 0)))

COPY_ROW(cudaMemcpyArrayToArray,
	 (cudaArray_t dst, size_t dx, size_t dy, cudaArray_const_t src, size_t sx, size_t sy),
	 (dst, dx, dy, src, sx, sy),
	 (target_array(&c, dst, dx, dy), source_array(&c, src, sx, sy)))

#define TRACE_3D "%zu %zu %zu", p ? p->extent.width : 0, p ? p->extent.height : 0, \
	p ? p->extent.depth : 0

#define FILL_BOX(c, p, from_host, to_host) do { \
	size_t src_unit = element((p)->srcArray), dst_unit = element((p)->dstArray); \
	size_t unit = (p)->srcArray ? src_unit : dst_unit; \
	(c)->WidthInBytes = (p)->extent.width * unit; \
	(c)->Height = (p)->extent.height; \
	(c)->Depth = (p)->extent.depth; \
	(c)->srcXInBytes = (p)->srcPos.x * src_unit; \
	(c)->srcY = (p)->srcPos.y; \
	(c)->srcZ = (p)->srcPos.z; \
	(c)->dstXInBytes = (p)->dstPos.x * dst_unit; \
	(c)->dstY = (p)->dstPos.y; \
	(c)->dstZ = (p)->dstPos.z; \
	(c)->srcArray = (CUarray)(p)->srcArray; \
	(c)->dstArray = (CUarray)(p)->dstArray; \
	(c)->srcHost = (p)->srcPtr.ptr; \
	(c)->srcDevice = ADDR((p)->srcPtr.ptr); \
	(c)->srcPitch = (p)->srcPtr.pitch; \
	(c)->srcHeight = (p)->srcPtr.ysize; \
	(c)->dstHost = (p)->dstPtr.ptr; \
	(c)->dstDevice = ADDR((p)->dstPtr.ptr); \
	(c)->dstPitch = (p)->dstPtr.pitch; \
	(c)->dstHeight = (p)->dstPtr.ysize; \
	(c)->srcMemoryType = (p)->srcArray ? CU_MEMORYTYPE_ARRAY : \
		(from_host) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_UNIFIED; \
	(c)->dstMemoryType = (p)->dstArray ? CU_MEMORYTYPE_ARRAY : \
		(to_host) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_UNIFIED; \
} while (0)

cudaError_t rt_box(CUDA_MEMCPY3D *c, const struct cudaMemcpy3DParms *p)
{
	memset(c, 0, sizeof(*c));
	FILL_BOX(c, p, FROM_HOST(p->kind), TO_HOST(p->kind));
	return cudaSuccess;
}

RT_PTDS(cudaMemcpy3D, (const struct cudaMemcpy3DParms *p), (p), TRACE_3D)
{
	CUDA_MEMCPY3D c = { 0 };

	RT_ENTER();
	if (!p)
		return cudaErrorInvalidValue;
	FILL_BOX(&c, p, FROM_HOST(p->kind), TO_HOST(p->kind));
	return (cudaError_t)D->cuMemcpy3D_v2(&c);
}

RT_PTSZ(cudaMemcpy3DAsync, (const struct cudaMemcpy3DParms *p, cudaStream_t stream),
	(p, stream), TRACE_3D)
{
	CUDA_MEMCPY3D c = { 0 };

	RT_ENTER();
	if (!p)
		return cudaErrorInvalidValue;
	FILL_BOX(&c, p, FROM_HOST(p->kind), TO_HOST(p->kind));
	return (cudaError_t)D->cuMemcpy3DAsync_v2(&c, stream);
}

RT_PTDS(cudaMemcpy3DPeer, (const struct cudaMemcpy3DPeerParms *p), (p), TRACE_3D)
{
	CUDA_MEMCPY3D_PEER c = { 0 };

	RT_ENTER();
	if (!p)
		return cudaErrorInvalidValue;
	FILL_BOX(&c, p, 0, 0);
	c.srcContext = rt_primary(p->srcDevice);
	c.dstContext = rt_primary(p->dstDevice);
	return (cudaError_t)D->cuMemcpy3DPeer(&c);
}

RT_PTSZ(cudaMemcpy3DPeerAsync, (const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream),
	(p, stream), TRACE_3D)
{
	CUDA_MEMCPY3D_PEER c = { 0 };

	RT_ENTER();
	if (!p)
		return cudaErrorInvalidValue;
	FILL_BOX(&c, p, 0, 0);
	c.srcContext = rt_primary(p->srcDevice);
	c.dstContext = rt_primary(p->dstDevice);
	return (cudaError_t)D->cuMemcpy3DPeerAsync(&c, stream);
}
