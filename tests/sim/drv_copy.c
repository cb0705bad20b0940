/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: copies between host, devices and arrays. Asynchronous ones are done
 * when they return.
 */
#include <string.h>

#include "drv_graph.h"

static CUresult copy_now(uint64_t dst, uint64_t src, size_t size)
{
	CUresult r = drv_check();

	if (r || !size)
		return r;
	if (!dst || !src)
		return CUDA_ERROR_INVALID_VALUE;
	memmove((void *)(uintptr_t)dst, (void *)(uintptr_t)src, size);
	return CUDA_SUCCESS;
}

static CUresult move(uint64_t dst, uint64_t src, size_t size)
{
	CUresult r = drv_sync();

	r = r ? r : copy_now(dst, src, size);
	if (!r && size && unlikely(drv_activity)) {
		struct sim_activity a = drv_copy_activity(dst, src, size);

		drv_did(&a, NULL);
	}
	return r;
}

/* Of an asynchronous copy, to be done now or by a graph. */
struct copy {
	uint64_t dst, src;
	size_t size;
};

static CUresult run_copy(void *args)
{
	const struct copy *c = args;

	return copy_now(c->dst, c->src, c->size);
}

static CUresult move_async(uint64_t dst, uint64_t src, size_t size, CUstream stream)
{
	const struct copy c = { dst, src, size };
	struct sim_activity activity, *a = NULL;
	CUresult r;

	if (size && unlikely(drv_watched(stream))) {
		activity = drv_copy_activity(dst, src, size);
		activity.async = 1;
		a = &activity;
	}
	if (drv_capture(stream, a, run_copy, &c, sizeof(c)))
		return CUDA_SUCCESS;
	r = copy_now(dst, src, size);
	if (!r && a)
		drv_did(a, stream);
	return r;
}

#define TRACE_COPY "0x%lx 0x%lx %zu", P(dst), P(src), size

/* Those of one dimension: DST and SRC are what the driver names them by. */
#define COPY(name, dst_type, src_type) \
	DRV_PTDS(name, (dst_type dst, src_type src, size_t size), (dst, src, size), TRACE_COPY) \
	{ \
		return move((uint64_t)dst, (uint64_t)src, size); \
	}
#define COPY_ASYNC(name, dst_type, src_type) \
	DRV_PTSZ(name, (dst_type dst, src_type src, size_t size, CUstream stream), \
		 (dst, src, size, stream), TRACE_COPY) \
	{ \
		return move_async((uint64_t)dst, (uint64_t)src, size, stream); \
	}

COPY(cuMemcpy, CUdeviceptr, CUdeviceptr)
COPY(cuMemcpyHtoD_v2, CUdeviceptr, const void *)
COPY(cuMemcpyDtoH_v2, void *, CUdeviceptr)
COPY(cuMemcpyDtoD_v2, CUdeviceptr, CUdeviceptr)
COPY_ASYNC(cuMemcpyAsync, CUdeviceptr, CUdeviceptr)
COPY_ASYNC(cuMemcpyHtoDAsync_v2, CUdeviceptr, const void *)
COPY_ASYNC(cuMemcpyDtoHAsync_v2, void *, CUdeviceptr)
COPY_ASYNC(cuMemcpyDtoDAsync_v2, CUdeviceptr, CUdeviceptr)

DRV_PTDS(cuMemcpyPeer,
	 (CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx, size_t size),
	 (dst, dst_ctx, src, src_ctx, size), TRACE_COPY)
{
	(void)dst_ctx, (void)src_ctx;
	return move(dst, src, size);
}

DRV_PTSZ(cuMemcpyPeerAsync,
	 (CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx, size_t size,
	  CUstream stream),
	 (dst, dst_ctx, src, src_ctx, size, stream), TRACE_COPY)
{
	(void)dst_ctx, (void)src_ctx;
	return move_async(dst, src, size, stream);
}

/* Arrays by byte offset. */
static CUresult at(CUarray handle, size_t offset, size_t size, uint64_t *addr)
{
	struct array *a = array_get(handle);

	if (!a)
		return CUDA_ERROR_INVALID_HANDLE;
	if (offset > a->pitch * a->rows || size > a->pitch * a->rows - offset)
		return CUDA_ERROR_INVALID_VALUE;
	*addr = a->addr + offset;
	return CUDA_SUCCESS;
}

static CUresult to_array(CUarray dst, size_t offset, uint64_t src, size_t size)
{
	uint64_t d;
	CUresult r = at(dst, offset, size, &d);

	return r ? r : move(d, src, size);
}

static CUresult from_array(uint64_t dst, CUarray src, size_t offset, size_t size)
{
	uint64_t s;
	CUresult r = at(src, offset, size, &s);

	return r ? r : move(dst, s, size);
}

DRV_PTDS(cuMemcpyHtoA_v2, (CUarray dst, size_t off, const void *src, size_t size),
	 (dst, off, src, size), TRACE_COPY)
{
	return to_array(dst, off, P(src), size);
}

DRV_PTDS(cuMemcpyDtoA_v2, (CUarray dst, size_t off, CUdeviceptr src, size_t size),
	 (dst, off, src, size), TRACE_COPY)
{
	return to_array(dst, off, src, size);
}

DRV_PTDS(cuMemcpyAtoH_v2, (void *dst, CUarray src, size_t off, size_t size),
	 (dst, src, off, size), TRACE_COPY)
{
	return from_array(P(dst), src, off, size);
}

DRV_PTDS(cuMemcpyAtoD_v2, (CUdeviceptr dst, CUarray src, size_t off, size_t size),
	 (dst, src, off, size), TRACE_COPY)
{
	return from_array(dst, src, off, size);
}

DRV_PTDS(cuMemcpyAtoA_v2, (CUarray dst, size_t dst_off, CUarray src, size_t src_off, size_t size),
	 (dst, dst_off, src, src_off, size), TRACE_COPY)
{
	uint64_t d;
	CUresult r = at(dst, dst_off, size, &d);

	return r ? r : from_array(d, src, src_off, size);
}

DRV_PTSZ(cuMemcpyHtoAAsync_v2,
	 (CUarray dst, size_t off, const void *src, size_t size, CUstream stream),
	 (dst, off, src, size, stream), TRACE_COPY)
{
	uint64_t d;
	CUresult r = at(dst, off, size, &d);

	return r ? r : move_async(d, P(src), size, stream);
}

DRV_PTSZ(cuMemcpyAtoHAsync_v2,
	 (void *dst, CUarray src, size_t off, size_t size, CUstream stream),
	 (dst, src, off, size, stream), TRACE_COPY)
{
	uint64_t s;
	CUresult r = at(src, off, size, &s);

	return r ? r : move_async(P(dst), s, size, stream);
}

/* One side of a copy of two or three dimensions. */
struct side {
	uint64_t addr;
	size_t pitch, rows;
};

static CUresult side(struct side *s, CUmemorytype type, const void *host, CUdeviceptr dev,
		     CUarray handle, size_t pitch, size_t rows,
		     const size_t pos[3], const size_t extent[3])
{
	struct array *a;

	s->pitch = pitch ? pitch : extent[0];
	s->rows = rows ? rows : extent[1];
	if (type == CU_MEMORYTYPE_ARRAY) {
		a = array_get(handle);
		if (!a)
			return CUDA_ERROR_INVALID_HANDLE;
		if (pos[0] + extent[0] > a->pitch || pos[1] + extent[1] > a->rows ||
		    pos[2] + extent[2] > a->layers)
			return CUDA_ERROR_INVALID_VALUE;
		*s = (struct side) { a->addr, a->pitch, a->rows };
	} else {
		s->addr = type == CU_MEMORYTYPE_HOST ? P(host) : dev;
		if (!s->addr || s->pitch < extent[0])
			return CUDA_ERROR_INVALID_VALUE;
	}
	s->addr += (pos[2] * s->rows + pos[1]) * s->pitch + pos[0];
	return CUDA_SUCCESS;
}

static CUresult copy_box(const CUDA_MEMCPY3D *c)
{
	size_t extent[3], src_pos[3], dst_pos[3], y, z;
	struct side src, dst;
	CUresult r = drv_check();

	if (r)
		return r;
	if (!c)
		return CUDA_ERROR_INVALID_VALUE;
	if (!c->WidthInBytes || !c->Height || !c->Depth)
		return CUDA_SUCCESS;
	extent[0] = c->WidthInBytes, extent[1] = c->Height, extent[2] = c->Depth;
	src_pos[0] = c->srcXInBytes, src_pos[1] = c->srcY, src_pos[2] = c->srcZ;
	dst_pos[0] = c->dstXInBytes, dst_pos[1] = c->dstY, dst_pos[2] = c->dstZ;
	r = side(&src, c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray,
		 c->srcPitch, c->srcHeight, src_pos, extent);
	if (!r)
		r = side(&dst, c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray,
			 c->dstPitch, c->dstHeight, dst_pos, extent);
	for (z = 0; !r && z < extent[2]; z++)
		for (y = 0; y < extent[1]; y++)
			memmove((void *)(uintptr_t)(dst.addr + (z * dst.rows + y) * dst.pitch),
				(void *)(uintptr_t)(src.addr + (z * src.rows + y) * src.pitch),
				extent[0]);
	return r;
}

CUresult copy_box_run(void *copy)
{
	return copy_box(copy);
}

struct sim_activity copy_box_activity(const CUDA_MEMCPY3D *c)
{
	uint64_t src = c->srcMemoryType == CU_MEMORYTYPE_HOST ? P(c->srcHost) : c->srcDevice;
	uint64_t dst = c->dstMemoryType == CU_MEMORYTYPE_HOST ? P(c->dstHost) : c->dstDevice;
	struct sim_activity a = drv_copy_activity(dst, src, c->WidthInBytes * c->Height * c->Depth);

	if (c->srcMemoryType == CU_MEMORYTYPE_ARRAY)
		a.from = SIM_ARRAY;
	if (c->dstMemoryType == CU_MEMORYTYPE_ARRAY)
		a.to = SIM_ARRAY;
	return a;
}

static CUresult box(const CUDA_MEMCPY3D *c)
{
	CUresult r = drv_sync();

	r = r ? r : copy_box(c);
	if (!r && unlikely(drv_activity)) {
		struct sim_activity a = copy_box_activity(c);

		drv_did(&a, NULL);
	}
	return r;
}

static CUresult box_async(const CUDA_MEMCPY3D *c, CUstream stream)
{
	struct sim_activity activity, *a = NULL;
	CUresult r;

	if (c && unlikely(drv_watched(stream))) {
		activity = copy_box_activity(c);
		activity.async = 1;
		a = &activity;
	}
	if (drv_capture(stream, a, copy_box_run, c, sizeof(*c)))
		return CUDA_SUCCESS;
	r = copy_box(c);
	if (!r && a)
		drv_did(a, stream);
	return r;
}

static const CUDA_MEMCPY3D *of_rectangle(CUDA_MEMCPY3D *to, const CUDA_MEMCPY2D *c)
{
	CUDA_MEMCPY3D box = { 0 };

	if (!c)
		return NULL;
#define SAME(field) box.field = c->field
	SAME(srcXInBytes), SAME(srcY), SAME(srcMemoryType), SAME(srcHost), SAME(srcDevice);
	SAME(srcArray), SAME(srcPitch), SAME(dstXInBytes), SAME(dstY), SAME(dstMemoryType);
	SAME(dstHost), SAME(dstDevice), SAME(dstArray), SAME(dstPitch);
	SAME(WidthInBytes), SAME(Height);
	box.Depth = 1;
	*to = box;
	return to;
}

static const CUDA_MEMCPY3D *of_peers(CUDA_MEMCPY3D *to, const CUDA_MEMCPY3D_PEER *c)
{
	CUDA_MEMCPY3D box = { 0 };

	if (!c)
		return NULL;
	SAME(srcXInBytes), SAME(srcY), SAME(srcZ), SAME(srcMemoryType), SAME(srcHost);
	SAME(srcDevice), SAME(srcArray), SAME(srcPitch), SAME(srcHeight);
	SAME(dstXInBytes), SAME(dstY), SAME(dstZ), SAME(dstMemoryType), SAME(dstHost);
	SAME(dstDevice), SAME(dstArray), SAME(dstPitch), SAME(dstHeight);
	SAME(WidthInBytes), SAME(Height), SAME(Depth);
	*to = box;
	return to;
}

static const CUDA_MEMCPY3D *of_box(CUDA_MEMCPY3D *to, const CUDA_MEMCPY3D *c)
{
	(void)to;
	return c;
}

#define TRACE_2D "%zu %zu", c ? c->WidthInBytes : 0, c ? c->Height : 0
#define TRACE_3D "%zu %zu %zu", c ? c->WidthInBytes : 0, c ? c->Height : 0, c ? c->Depth : 0
#define BOX(name, type, of, ...) \
	DRV_PTDS(name, (const type *c), (c), __VA_ARGS__) \
	{ \
		CUDA_MEMCPY3D to; \
\
		return box(of(&to, c)); \
	}
#define BOX_ASYNC(name, type, of, ...) \
	DRV_PTSZ(name, (const type *c, CUstream stream), (c, stream), __VA_ARGS__) \
	{ \
		CUDA_MEMCPY3D to; \
\
		return box_async(of(&to, c), stream); \
	}

BOX(cuMemcpy2D_v2, CUDA_MEMCPY2D, of_rectangle, TRACE_2D)
BOX(cuMemcpy2DUnaligned_v2, CUDA_MEMCPY2D, of_rectangle, TRACE_2D)
BOX(cuMemcpy3D_v2, CUDA_MEMCPY3D, of_box, TRACE_3D)
BOX(cuMemcpy3DPeer, CUDA_MEMCPY3D_PEER, of_peers, TRACE_3D)
BOX_ASYNC(cuMemcpy2DAsync_v2, CUDA_MEMCPY2D, of_rectangle, TRACE_2D)
BOX_ASYNC(cuMemcpy3DAsync_v2, CUDA_MEMCPY3D, of_box, TRACE_3D)
BOX_ASYNC(cuMemcpy3DPeerAsync, CUDA_MEMCPY3D_PEER, of_peers, TRACE_3D)
