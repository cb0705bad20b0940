/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: texture and surface objects. */
#include <stdlib.h>
#include <string.h>

#include "drv_code.h"

enum {
	READ_AS_INTEGER = 0x01, NORMALIZED_COORDINATES = 0x02, SRGB = 0x10,	/* CU_TRSF_ */
	LAYERED = 0x01, CUBEMAP = 0x04,						/* CUDA_ARRAY3D_ */
};

static void format(struct interp_texture *t, CUarray_format f, unsigned channels)
{
	t->channels = channels;
	t->bits = 32;
	t->type = 'f';
	switch ((int)f) {
	case CU_AD_FORMAT_UNSIGNED_INT8: t->type = 'u', t->bits = 8; break;
	case CU_AD_FORMAT_UNSIGNED_INT16: t->type = 'u', t->bits = 16; break;
	case CU_AD_FORMAT_UNSIGNED_INT32: t->type = 'u'; break;
	case CU_AD_FORMAT_SIGNED_INT8: t->type = 's', t->bits = 8; break;
	case CU_AD_FORMAT_SIGNED_INT16: t->type = 's', t->bits = 16; break;
	case CU_AD_FORMAT_SIGNED_INT32: t->type = 's'; break;
	case CU_AD_FORMAT_HALF: t->bits = 16; break;
	}
}

static CUresult from_array(struct interp_texture *t, CUarray handle)
{
	struct array *a = array_get(handle);

	if (!a)
		return CUDA_ERROR_INVALID_HANDLE;
	format(t, a->desc.Format, a->desc.NumChannels);
	t->addr = a->addr;
	t->layered = (a->desc.Flags & LAYERED) != 0;
	t->cube = (a->desc.Flags & CUBEMAP) != 0;
	t->size[0] = (unsigned)a->desc.Width;
	t->size[1] = (unsigned)a->rows;
	t->size[2] = (unsigned)a->layers;
	t->dims = a->desc.Depth && !t->layered && !t->cube ? 3 : a->desc.Height ? 2 : 1;
	t->pitch = a->pitch;
	t->slice = a->pitch * a->rows;
	return CUDA_SUCCESS;
}

/* Of a mipmap the first level, if it has no other. */
static CUresult from_mipmap(struct interp_texture *t, CUmipmappedArray handle)
{
	struct block *b;
	unsigned levels = 0;
	CUarray level;
	CUresult r;

	pthread_mutex_lock(&drv_lock);
	b = block_find(P(handle), K_MIPMAP);
	if (b)
		levels = ((struct array *)b->extra)->num_levels;
	pthread_mutex_unlock(&drv_lock);
	if (!levels)
		return CUDA_ERROR_INVALID_HANDLE;
	if (levels > 1)
		return CUDA_ERROR_NOT_SUPPORTED;
	r = cuMipmappedArrayGetLevel(&level, handle, 0);
	return r ? r : from_array(t, level);
}

static CUresult resource(struct interp_texture *t, const CUDA_RESOURCE_DESC *d)
{
	memset(t, 0, sizeof(*t));
	t->size[1] = t->size[2] = 1;
	switch ((int)d->resType) {
	case CU_RESOURCE_TYPE_ARRAY:
		return from_array(t, d->res.array.hArray);
	case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
		return from_mipmap(t, d->res.mipmap.hMipmappedArray);
	case CU_RESOURCE_TYPE_LINEAR:
		format(t, d->res.linear.format, d->res.linear.numChannels);
		t->addr = d->res.linear.devPtr;
		t->dims = 1;
		t->linear_memory = true;
		if (t->channels - 1 > 3)
			return CUDA_ERROR_INVALID_VALUE;
		t->size[0] = (unsigned)(d->res.linear.sizeInBytes / (t->channels * t->bits / 8));
		t->pitch = t->slice = d->res.linear.sizeInBytes;
		break;
	case CU_RESOURCE_TYPE_PITCH2D:
		format(t, d->res.pitch2D.format, d->res.pitch2D.numChannels);
		t->addr = d->res.pitch2D.devPtr;
		t->dims = 2;
		t->size[0] = (unsigned)d->res.pitch2D.width;
		t->size[1] = (unsigned)d->res.pitch2D.height;
		t->pitch = d->res.pitch2D.pitchInBytes;
		t->slice = t->pitch * t->size[1];
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	return t->addr && t->channels - 1 <= 3 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult make(unsigned long long *object, const struct interp_texture *t)
{
	struct block *b;

	pthread_mutex_lock(&drv_lock);
	b = block_wrap(K_TEXTURE, 0, 0);
	if (b) {
		b->extra = malloc(sizeof(*t));
		if (!b->extra)
			abort();
		memcpy(b->extra, t, sizeof(*t));
		*object = b->key;
	}
	pthread_mutex_unlock(&drv_lock);
	return b ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult release(unsigned long long object)
{
	struct block *b;

	pthread_mutex_lock(&drv_lock);
	b = block_find(object, K_TEXTURE);
	if (b)
		block_free(b);
	pthread_mutex_unlock(&drv_lock);
	return b ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

bool drv_texture(uint64_t handle, struct interp_texture *texture)
{
	struct block *b;

	pthread_mutex_lock(&drv_lock);
	b = block_find(handle, K_TEXTURE);
	if (b)
		memcpy(texture, b->extra, sizeof(*texture));
	pthread_mutex_unlock(&drv_lock);
	return b != NULL;
}

DRV_QUIET(cuTexObjectCreate)(CUtexObject *object, const CUDA_RESOURCE_DESC *from, const CUDA_TEXTURE_DESC *how,
			     const CUDA_RESOURCE_VIEW_DESC *view)
{
	struct interp_texture t;
	CUresult r = drv_check();
	int i;

	if (r)
		return r;
	if (!object || !from || !how)
		return CUDA_ERROR_INVALID_VALUE;
	if (view || (how->flags & SRGB))
		return CUDA_ERROR_NOT_SUPPORTED;
	r = resource(&t, from);
	if (r)
		return r;
	t.normalized_read = !(how->flags & READ_AS_INTEGER) && t.type != 'f' && t.bits < 32;
	t.normalized_coords = (how->flags & NORMALIZED_COORDINATES) != 0;
	t.linear_filter = how->filterMode == CU_TR_FILTER_MODE_LINEAR && !t.linear_memory;
	for (i = 0; i < 3; i++)
		t.address[i] = (unsigned char)how->addressMode[i];
	memcpy(t.border, how->borderColor, sizeof(t.border));
	return make(object, &t);
}

DRV_QUIET(cuTexObjectDestroy)(CUtexObject object)
{
	return release(object);
}

DRV_QUIET(cuSurfObjectCreate)(CUsurfObject *object, const CUDA_RESOURCE_DESC *from)
{
	struct interp_texture t;
	CUresult r = drv_check();

	if (r)
		return r;
	if (!object || !from || from->resType != CU_RESOURCE_TYPE_ARRAY)
		return CUDA_ERROR_INVALID_VALUE;
	r = resource(&t, from);
	return r ? r : make(object, &t);
}

DRV_QUIET(cuSurfObjectDestroy)(CUsurfObject object)
{
	return release(object);
}
