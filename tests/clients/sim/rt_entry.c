/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runtime: what programs ask of a device before they use it. */
#include <dlfcn.h>

#include "../../sim/rt.h"
#include "rt_find.h"

void *rt_find(const char *name)
{
	void *lib = rt_driver_load() ? NULL : dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	return lib ? dlsym(lib, name) : NULL;
}

RT_QUIET(cudaDeviceGetPCIBusId)(char *id, int len, int dev)
{
	cudaError_t r = rt_driver_load();

	return rt_done(r ? r : (cudaError_t)DRIVER(cuDeviceGetPCIBusId)(id, len, dev));
}

RT_QUIET(cudaGetDriverEntryPointByVersion)(const char *symbol, void **function, unsigned version,
					   unsigned long long flags,
					   enum cudaDriverEntryPointQueryResult *status)
{
	CUdriverProcAddressQueryResult found;
	cudaError_t r = rt_driver_load();

	if (!r && (!symbol || !function))
		r = cudaErrorInvalidValue;
	if (r)
		return rt_done(r);
	if (DRIVER(cuGetProcAddress_v2)(symbol, function, (int)version, flags, &found))
		*function = NULL;
	if (status)
		*status = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
	return cudaSuccess;
}
