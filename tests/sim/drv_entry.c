/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: its exports by name, its errors by name. */
#include <dlfcn.h>
#include <stdio.h>

#include "drv.h"
#include "errors.h"

static void *self(void)
{
	static void *handle;
	Dl_info info;

	if (!handle && dladdr(&drv_lock, &info))
		handle = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
	return handle;
}

/* The newest variant there is, whatever version is asked for. */
static void *lookup(const char *symbol, cuuint64_t flags)
{
	static const char *const threads[] = { "_ptds", "_ptsz", "" };
	static const char *const versions[] = { "_v4", "_v3", "_v2", "" };
	unsigned t = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM ? 0 : 2, v;
	char name[256];
	void *p;

	for (; t < 3; t++)
		for (v = 0; v < 4; v++) {
			snprintf(name, sizeof(name), "%s%s%s", symbol, versions[v], threads[t]);
			p = dlsym(self(), name);
			if (p)
				return p;
		}
	return NULL;
}

DRV_QUIET(cuGetProcAddress_v2)(const char *symbol, void **function, int version,
			       cuuint64_t flags, CUdriverProcAddressQueryResult *status)
{
	(void)version;
	if (!symbol || !function)
		return CUDA_ERROR_INVALID_VALUE;
	*function = lookup(symbol, flags);
	if (status)
		*status = *function ? CU_GET_PROC_ADDRESS_SUCCESS :
			CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* Where the header makes it another name for _v2, its prototype is this one. */
#undef cuGetProcAddress
extern CUresult cuGetProcAddress(const char *symbol, void **function, int version,
				 cuuint64_t flags);
DRV_QUIET(cuGetProcAddress)(const char *symbol, void **function, int version, cuuint64_t flags)
{
	(void)version;
	if (!symbol || !function)
		return CUDA_ERROR_INVALID_VALUE;
	*function = lookup(symbol, flags);
	return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* There are none; NVRTC, which looks whether a driver that is loaded has its own, wants to be told. */
DRV_QUIET(cuGetExportTable)(const void **table, const CUuuid *id)
{
	if (!table || !id)
		return CUDA_ERROR_INVALID_VALUE;
	*table = NULL;
	return CUDA_ERROR_NOT_SUPPORTED;
}

DRV_QUIET(cuGetErrorName)(CUresult error, const char **text)
{
	const struct error *e = error_find((int)error);

	if (!text)
		return CUDA_ERROR_INVALID_VALUE;
	*text = e ? e->driver : NULL;
	return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

DRV_QUIET(cuGetErrorString)(CUresult error, const char **text)
{
	const struct error *e = error_find((int)error);

	if (!text)
		return CUDA_ERROR_INVALID_VALUE;
	*text = e ? e->text : NULL;
	return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
