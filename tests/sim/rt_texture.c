/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runtime: texture and surface objects. */
#include <string.h>

#include "rt.h"

static void format(const struct cudaChannelFormatDesc *c, CUarray_format *f, unsigned *channels)
{
	CUDA_ARRAY3D_DESCRIPTOR d;

	rt_describe(&d, c, 1, 0, 0, 0);
	*f = d.Format;
	*channels = d.NumChannels;
}

static void resource(CUDA_RESOURCE_DESC *to, const struct cudaResourceDesc *from)
{
	memset(to, 0, sizeof(*to));
	to->resType = (CUresourcetype)from->resType;
	switch (from->resType) {
	case cudaResourceTypeArray:
		to->res.array.hArray = (CUarray)from->res.array.array;
		break;
	case cudaResourceTypeMipmappedArray:
		to->res.mipmap.hMipmappedArray = (CUmipmappedArray)from->res.mipmap.mipmap;
		break;
	case cudaResourceTypeLinear:
		to->res.linear.devPtr = P(from->res.linear.devPtr);
		format(&from->res.linear.desc, &to->res.linear.format, &to->res.linear.numChannels);
		to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
		break;
	case cudaResourceTypePitch2D:
		to->res.pitch2D.devPtr = P(from->res.pitch2D.devPtr);
		format(&from->res.pitch2D.desc, &to->res.pitch2D.format, &to->res.pitch2D.numChannels);
		to->res.pitch2D.width = from->res.pitch2D.width;
		to->res.pitch2D.height = from->res.pitch2D.height;
		to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
		break;
	}
}

static void reading(CUDA_TEXTURE_DESC *to, const struct cudaTextureDesc *from)
{
	enum { READ_AS_INTEGER = 0x01, NORMALIZED_COORDINATES = 0x02, SRGB = 0x10 };	/* CU_TRSF_ */
	int i;

	memset(to, 0, sizeof(*to));
	for (i = 0; i < 3; i++)
		to->addressMode[i] = (CUaddress_mode)from->addressMode[i];
	to->filterMode = (CUfilter_mode)from->filterMode;
	to->flags = (from->readMode == cudaReadModeElementType ? READ_AS_INTEGER : 0) |
		(from->normalizedCoords ? NORMALIZED_COORDINATES : 0) | (from->sRGB ? SRGB : 0);
	memcpy(to->borderColor, from->borderColor, sizeof(to->borderColor));
}

RT(cudaCreateTextureObject,
   (cudaTextureObject_t *object, const struct cudaResourceDesc *from, const struct cudaTextureDesc *how,
    const struct cudaResourceViewDesc *view),
   (object, from, how, view), "0x%lx", OUT(object))
{
	pt_none;
	CUDA_RESOURCE_DESC r;
	CUDA_TEXTURE_DESC t;

	RT_ENTER();
	if (!from || !how)
		return cudaErrorInvalidValue;
	resource(&r, from);
	reading(&t, how);
	return (cudaError_t)D->cuTexObjectCreate(object, &r, &t, (const CUDA_RESOURCE_VIEW_DESC *)view);
}

RT(cudaDestroyTextureObject, (cudaTextureObject_t object), (object), "0x%lx", P(object))
{
	pt_none;
	RT_ENTER();
	return object ? (cudaError_t)D->cuTexObjectDestroy(object) : cudaSuccess;
}

RT(cudaCreateSurfaceObject, (cudaSurfaceObject_t *object, const struct cudaResourceDesc *from), (object, from),
   "0x%lx", OUT(object))
{
	pt_none;
	CUDA_RESOURCE_DESC r;

	RT_ENTER();
	if (!from)
		return cudaErrorInvalidValue;
	resource(&r, from);
	return (cudaError_t)D->cuSurfObjectCreate(object, &r);
}

RT(cudaDestroySurfaceObject, (cudaSurfaceObject_t object), (object), "0x%lx", P(object))
{
	pt_none;
	RT_ENTER();
	return object ? (cudaError_t)D->cuSurfObjectDestroy(object) : cudaSuccess;
}

RT_EXPORTED struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
							       enum cudaChannelFormatKind f)
{
	RT_FRAME();
	return (struct cudaChannelFormatDesc) { x, y, z, w, f };
}
