/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: filling memory. */
#include <string.h>

#include "drv_graph.h"

static CUresult fill(CUdeviceptr dst, size_t pitch, unsigned value, size_t unit,
		     size_t width, size_t height)
{
	CUresult r = drv_check();
	size_t x, y;
	char *row;

	if (r || !width || !height)
		return r;
	if (!dst || dst % unit || (height > 1 && pitch < width * unit))
		return CUDA_ERROR_INVALID_VALUE;
	for (y = 0; y < height; y++) {
		row = (char *)(uintptr_t)dst + y * pitch;
		if (unit == 1)
			memset(row, (int)value, width);
		else
			for (x = 0; x < width; x++)
				memcpy(row + x * unit, &value, unit);	/* little-endian */
	}
	return CUDA_SUCCESS;
}

CUresult fill_run(void *args)
{
	const struct fill *f = args;

	return fill(f->dst, f->pitch, f->value, f->unit, f->width, f->height);
}

struct sim_activity fill_activity(const struct fill *f)
{
	return (struct sim_activity) {
		.kind = SIM_SET, .to = SIM_DEVICE, .bytes = f->unit * f->width * f->height, .value = f->value,
	};
}

static CUresult fill_now(CUdeviceptr dst, size_t pitch, unsigned value, size_t unit, size_t width, size_t height)
{
	const struct fill f = { dst, pitch, value, unit, width, height };
	CUresult r = fill_run((void *)&f);

	if (!r && unlikely(drv_activity)) {
		struct sim_activity a = fill_activity(&f);

		drv_did(&a, NULL);
	}
	return r;
}

static CUresult fill_async(CUdeviceptr dst, size_t pitch, unsigned value, size_t unit, size_t width,
			   size_t height, CUstream stream)
{
	const struct fill f = { dst, pitch, value, unit, width, height };
	struct sim_activity activity, *a = NULL;
	CUresult r;

	if (unlikely(drv_watched(stream))) {
		activity = fill_activity(&f);
		activity.async = 1;
		a = &activity;
	}
	if (drv_capture(stream, a, fill_run, &f, sizeof(f)))
		return CUDA_SUCCESS;
	r = fill(dst, pitch, value, unit, width, height);
	if (!r && a)
		drv_did(a, stream);
	return r;
}

#define TRACE_SET "0x%lx %u %zu", P(dst), (unsigned)value, count
#define SET(name, async, type) \
	DRV_PTDS(name, (CUdeviceptr dst, type value, size_t count), (dst, value, count), \
		 TRACE_SET) \
	{ \
		return fill_now(dst, 0, value, sizeof(value), count, 1); \
	} \
	DRV_PTSZ(async, (CUdeviceptr dst, type value, size_t count, CUstream stream), \
		 (dst, value, count, stream), TRACE_SET) \
	{ \
		return fill_async(dst, 0, value, sizeof(value), count, 1, stream); \
	}

#define TRACE_SET_2D "0x%lx %u %zu %zu", P(dst), (unsigned)value, width, height
#define SET_2D(name, async, type) \
	DRV_PTDS(name, (CUdeviceptr dst, size_t pitch, type value, size_t width, size_t height), \
		 (dst, pitch, value, width, height), TRACE_SET_2D) \
	{ \
		return fill_now(dst, pitch, value, sizeof(value), width, height); \
	} \
	DRV_PTSZ(async, (CUdeviceptr dst, size_t pitch, type value, size_t width, size_t height, \
			 CUstream stream), \
		 (dst, pitch, value, width, height, stream), TRACE_SET_2D) \
	{ \
		return fill_async(dst, pitch, value, sizeof(value), width, height, stream); \
	}

SET(cuMemsetD8_v2, cuMemsetD8Async, unsigned char)
SET(cuMemsetD16_v2, cuMemsetD16Async, unsigned short)
SET(cuMemsetD32_v2, cuMemsetD32Async, unsigned)
SET_2D(cuMemsetD2D8_v2, cuMemsetD2D8Async, unsigned char)
SET_2D(cuMemsetD2D16_v2, cuMemsetD2D16Async, unsigned short)
SET_2D(cuMemsetD2D32_v2, cuMemsetD2D32Async, unsigned)
