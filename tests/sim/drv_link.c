/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: linking.  One input with PTX is taken as it is: the interpreter links no modules. */
#include <stdlib.h>
#include <string.h>

#include "drv_module.h"

struct CUlinkState_st {
	char *image;
	size_t size;
};

DRV_QUIET(cuLinkCreate_v2)(unsigned num, CUjit_option *options, void **values, CUlinkState *state)
{
	CUresult r = drv_check();

	(void)num, (void)options, (void)values;
	if (r)
		return r;
	if (!state)
		return CUDA_ERROR_INVALID_VALUE;
	*state = calloc(1, sizeof(**state));
	return *state ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult keep(CUlinkState state, const void *data, size_t size)
{
	struct code *code;
	CUresult r;

	if (state->image)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (drv_kernels) {
		r = code_get(&code, data, size);
		if (r)
			return r;
		state->size = code->size + 1;
		state->image = malloc(state->size);
		if (state->image)
			memcpy(state->image, code->ptx, state->size);
		code_put(code);
	} else {
		state->size = size;
		state->image = malloc(size);
		if (state->image)
			memcpy(state->image, data, size);
	}
	return state->image ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

DRV_QUIET(cuLinkAddData_v2)(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
			    unsigned num, CUjit_option *options, void **values)
{
	(void)type, (void)name, (void)num, (void)options, (void)values;
	return state && data && size ? keep(state, data, size) : CUDA_ERROR_INVALID_VALUE;
}

DRV_QUIET(cuLinkAddFile_v2)(CUlinkState state, CUjitInputType type, const char *path, unsigned num,
			    CUjit_option *options, void **values)
{
	char *data;
	size_t size;
	CUresult r;

	(void)type, (void)num, (void)options, (void)values;
	if (!state || !path)
		return CUDA_ERROR_INVALID_VALUE;
	r = image_read(&data, &size, path);
	if (r)
		return r;
	r = size ? keep(state, data, size) : CUDA_ERROR_INVALID_VALUE;
	free(data);
	return r;
}

DRV_QUIET(cuLinkComplete)(CUlinkState state, void **image, size_t *size)
{
	if (!state || !image || !state->image)
		return CUDA_ERROR_INVALID_VALUE;
	*image = state->image;
	if (size)
		*size = state->size;
	return CUDA_SUCCESS;
}

DRV_QUIET(cuLinkDestroy)(CUlinkState state)
{
	if (!state)
		return CUDA_ERROR_INVALID_HANDLE;
	free(state->image);
	free(state);
	return CUDA_SUCCESS;
}
