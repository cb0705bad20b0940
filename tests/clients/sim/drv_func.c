/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: what compilers of kernels at run time, as Triton's and Numba's, ask of them. */
#include <string.h>

#include "../../sim/drv.h"

/* The attributes of any kernel. */
static int attribute(CUfunction_attribute which)
{
	switch ((int)which) {
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return 1024;
	case CU_FUNC_ATTRIBUTE_NUM_REGS: return 32;
	case CU_FUNC_ATTRIBUTE_PTX_VERSION:
	case CU_FUNC_ATTRIBUTE_BINARY_VERSION: return 90;
	}
	return 0;
}

DRV_QUIET(cuFuncGetAttribute)(int *value, CUfunction_attribute which, CUfunction f)
{
	if (!value || !f)
		return CUDA_ERROR_INVALID_VALUE;
	*value = attribute(which);
	return CUDA_SUCCESS;
}

DRV_QUIET(cuKernelGetAttribute)(int *value, CUfunction_attribute which, CUkernel kernel, CUdevice dev)
{
	if (!value || !kernel || dev < 0 || dev >= drv_devices)
		return CUDA_ERROR_INVALID_VALUE;
	*value = attribute(which);
	return CUDA_SUCCESS;
}

DRV_QUIET(cuFuncSetCacheConfig)(CUfunction f, CUfunc_cache config)
{
	(void)config;
	return f ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

DRV_QUIET(cuModuleGetLoadingMode)(CUmoduleLoadingMode *mode)
{
	*mode = CU_MODULE_LAZY_LOADING;
	return CUDA_SUCCESS;
}

DRV_QUIET(cuDeviceComputeCapability)(int *major, int *minor, CUdevice dev)
{
	if (!major || !minor || dev < 0 || dev >= drv_devices)
		return CUDA_ERROR_INVALID_VALUE;
	*major = 9;
	*minor = 0;
	return CUDA_SUCCESS;
}

/* What a linker makes is a module as any: an image is never looked into. */
struct CUlinkState_st {
	char image[64];
};

DRV_QUIET(cuLinkCreate_v2)(unsigned count, CUjit_option *options, void **values, CUlinkState *state)
{
	static struct CUlinkState_st linked = { "linked" };

	(void)count, (void)options, (void)values;
	*state = &linked;
	return drv_check();
}

DRV_QUIET(cuLinkAddData_v2)(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
			    unsigned count, CUjit_option *options, void **values)
{
	(void)type, (void)size, (void)name, (void)count, (void)options, (void)values;
	return state && data ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

DRV_QUIET(cuLinkComplete)(CUlinkState state, void **image, size_t *size)
{
	if (!state || !image || !size)
		return CUDA_ERROR_INVALID_VALUE;
	*image = state->image;
	*size = sizeof(state->image);
	return CUDA_SUCCESS;
}

DRV_QUIET(cuLinkDestroy)(CUlinkState state)
{
	return state ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
