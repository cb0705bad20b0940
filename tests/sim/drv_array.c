/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: arrays and mipmapped arrays. A handle is its memory's address. */
#include <stdlib.h>

#include "drv.h"

static size_t element_size(CUarray_format format, unsigned channels)
{
	switch ((int)format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		return channels;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 2 * channels;
	}
	return 4 * channels;
}

static size_t at_least_one(size_t n)
{
	return n ? n : 1;
}

struct array *array_get(CUarray handle)
{
	struct block *b;
	struct array *a;

	pthread_mutex_lock(&drv_lock);
	b = block_find(P(handle), K_ARRAY);
	a = b ? b->extra : NULL;
	pthread_mutex_unlock(&drv_lock);
	return a;
}

/* With drv_lock held. */
static struct block *array_new(enum kind kind, const CUDA_ARRAY3D_DESCRIPTOR *desc, int charged)
{
	struct array *a = calloc(1, sizeof(*a));
	struct block *b;

	if (!a)
		return NULL;
	a->desc = *desc;
	a->element = element_size(desc->Format, desc->NumChannels);
	a->pitch = desc->Width * a->element;
	a->rows = at_least_one(desc->Height);
	a->layers = at_least_one(desc->Depth);
	b = block_new(kind, drv_current()->dev, charged, a->pitch * a->rows * a->layers);
	if (!b) {
		free(a);
		return NULL;
	}
	a->addr = b->addr;
	b->extra = a;
	return b;
}

static CUresult create(CUarray *handle, const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
	CUresult r = drv_check();
	struct block *b;

	if (r)
		return r;
	if (!handle || !desc->Width || desc->NumChannels - 1 > 3)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&drv_lock);
	b = array_new(K_ARRAY, desc, drv_current()->dev);
	if (b)
		*handle = (CUarray)(uintptr_t)b->key;
	pthread_mutex_unlock(&drv_lock);
	return b ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

DRV(cuArrayCreate_v2, (CUarray *handle, const CUDA_ARRAY_DESCRIPTOR *desc), (handle, desc),
    "%zu %zu 0x%lx", desc ? desc->Width : 0, desc ? desc->Height : 0, OUT(handle))
{
	CUDA_ARRAY3D_DESCRIPTOR d = { 0 };

	if (!desc)
		return CUDA_ERROR_INVALID_VALUE;
	d.Width = desc->Width;
	d.Height = desc->Height;
	d.Format = desc->Format;
	d.NumChannels = desc->NumChannels;
	return create(handle, &d);
}

DRV(cuArray3DCreate_v2, (CUarray *handle, const CUDA_ARRAY3D_DESCRIPTOR *desc), (handle, desc),
    "%zu %zu %zu 0x%lx", desc ? desc->Width : 0, desc ? desc->Height : 0,
    desc ? desc->Depth : 0, OUT(handle))
{
	return desc ? create(handle, desc) : CUDA_ERROR_INVALID_VALUE;
}

DRV(cuArrayDestroy, (CUarray handle), (handle), "0x%lx", P(handle))
{
	struct block *b;

	pthread_mutex_lock(&drv_lock);
	b = block_find(P(handle), K_ARRAY);
	if (b && b->charged < 0)
		b = NULL;	/* a level goes with its mipmap */
	if (b)
		block_free(b);
	pthread_mutex_unlock(&drv_lock);
	return b ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

DRV_QUIET(cuArray3DGetDescriptor_v2)(CUDA_ARRAY3D_DESCRIPTOR *desc, CUarray handle)
{
	struct array *a = array_get(handle);

	if (!a || !desc)
		return a ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*desc = a->desc;
	return CUDA_SUCCESS;
}

DRV_QUIET(cuArrayGetDescriptor_v2)(CUDA_ARRAY_DESCRIPTOR *desc, CUarray handle)
{
	struct array *a = array_get(handle);

	if (!a || !desc)
		return a ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	desc->Width = a->desc.Width;
	desc->Height = a->desc.Height;
	desc->Format = a->desc.Format;
	desc->NumChannels = a->desc.NumChannels;
	return CUDA_SUCCESS;
}

CUresult array_create_levels(CUmipmappedArray *handle, const CUDA_ARRAY3D_DESCRIPTOR *desc,
			     unsigned levels)
{
	CUresult r = drv_check();
	struct array *a;
	struct block *b;

	if (r)
		return r;
	if (!handle || !desc || !desc->Width || !levels || levels > 16)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&drv_lock);
	b = array_new(K_MIPMAP, desc, drv_current()->dev);
	if (b) {
		a = b->extra;
		a->num_levels = levels;
		*handle = (CUmipmappedArray)(uintptr_t)b->key;
	}
	pthread_mutex_unlock(&drv_lock);
	return b ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

DRV(cuMipmappedArrayCreate,
    (CUmipmappedArray *handle, const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned levels),
    (handle, desc, levels),
    "%zu %zu %zu %u 0x%lx", desc ? desc->Width : 0, desc ? desc->Height : 0,
    desc ? desc->Depth : 0, levels, OUT(handle))
{
	return array_create_levels(handle, desc, levels);
}

DRV_QUIET(cuMipmappedArrayGetLevel)(CUarray *level_array, CUmipmappedArray handle, unsigned level)
{
	CUDA_ARRAY3D_DESCRIPTOR desc;
	CUresult r = CUDA_ERROR_INVALID_VALUE;
	struct block *b;
	struct array *a;

	pthread_mutex_lock(&drv_lock);
	b = block_find(P(handle), K_MIPMAP);
	a = b ? b->extra : NULL;
	if (a && level_array && level < a->num_levels && drv_current()) {
		desc = a->desc;
		desc.Width = at_least_one(desc.Width >> level);
		desc.Height = desc.Height ? at_least_one(desc.Height >> level) : 0;
		desc.Depth = desc.Depth ? at_least_one(desc.Depth >> level) : 0;
		if (!a->levels[level])
			a->levels[level] = array_new(K_ARRAY, &desc, -1);
		r = CUDA_ERROR_OUT_OF_MEMORY;
		if (a->levels[level]) {
			*level_array = (CUarray)(uintptr_t)a->levels[level]->key;
			r = CUDA_SUCCESS;
		}
	}
	pthread_mutex_unlock(&drv_lock);
	return r;
}

DRV(cuMipmappedArrayDestroy, (CUmipmappedArray handle), (handle), "0x%lx", P(handle))
{
	struct block *b;
	struct array *a;
	unsigned i;

	pthread_mutex_lock(&drv_lock);
	b = block_find(P(handle), K_MIPMAP);
	if (b) {
		a = b->extra;
		for (i = 0; i < a->num_levels; i++)
			if (a->levels[i])
				block_free(a->levels[i]);
		block_free(b);
	}
	pthread_mutex_unlock(&drv_lock);
	return b ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
