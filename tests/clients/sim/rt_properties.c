/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runtime: cudaGetDeviceProperties, whose struct differs between CUDA 12 and 13: built for each, with its headers.
 * Those of 12 name the function cudaGetDeviceProperties_v2. */
#include <string.h>
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "attributes.h"
#include "rt_find.h"

__attribute__((visibility("hidden"))) cudaError_t rt_done(int ret);

static int attribute(enum cudaDeviceAttr which, int dev)
{
	int value = 0;

	DRIVER(cuDeviceGetAttribute)(&value, (CUdevice_attribute)which, dev);
	return value;
}

__attribute__((visibility("default"))) cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int dev)
{
	CUresult r;

	if (!p || !rt_find("cuDeviceGetName"))
		return rt_done(p ? cudaErrorInsufficientDriver : cudaErrorInvalidValue);
	memset(p, 0, sizeof(*p));
	r = DRIVER(cuDeviceGetName)(p->name, sizeof(p->name), dev);
	if (r)
		return rt_done((int)r);
	DRIVER(cuDeviceTotalMem_v2)(&p->totalGlobalMem, dev);
	DRIVER(cuDeviceGetUuid_v2)(&p->uuid, dev);
#define FILL(member, which) p->member = attribute(cudaDevAttr##which, dev);
	PROPERTIES(FILL)
	return cudaSuccess;
}
