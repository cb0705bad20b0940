/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: what compilers of kernels at run time, as Triton's and Numba's, ask of them. */
#include <string.h>

#include "../../sim/drv.h"

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
