/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "gpuprobe/libc.h"
#include "gpuprobe/real.h"

/* found once in a process; writing the same twice does no harm */
static struct {
	dlsym_fn *dlsym;
	dlvsym_fn *dlvsym;
	struct driver *driver;
} found;

#define LOAD(p) __atomic_load_n(&(p), __ATOMIC_ACQUIRE)
#define STORE(p, v) __atomic_store_n(&(p), v, __ATOMIC_RELEASE)

dlsym_fn *real_dlsym(void)
{
	dlsym_fn *f = LOAD(found.dlsym);

	if (!f) {
		*(void **)&f = libc_function("dlsym");
		STORE(found.dlsym, f);
	}
	return f;
}

dlvsym_fn *real_dlvsym(void)
{
	dlvsym_fn *f = LOAD(found.dlvsym);

	if (!f) {
		*(void **)&f = libc_function("dlvsym");
		STORE(found.dlvsym, f);
	}
	return f;
}

const struct driver *real_driver(void)
{
	struct driver *driver = LOAD(found.driver), *none = NULL;
	dlsym_fn *sym = real_dlsym();
	void *cuda;

	if (driver || !sym)
		return driver;
	cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	if (!cuda)
		return NULL;
	driver = malloc(sizeof(*driver));
	if (!driver)
		return NULL;
#define FIND(name, params) *(void **)&driver->name = sym(cuda, #name);
	DRIVER_FUNCTIONS(FIND, FIND)
	if (!__atomic_compare_exchange_n(&found.driver, &none, driver, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		free(driver);
		driver = none;
	}
	return driver;
}

void *real_wrapped(void *function)
{
	const struct driver *d = function ? real_driver() : NULL;

	if (function && function == (void *)real_dlsym())
		return (void *)dlsym;
	if (function && function == (void *)real_dlvsym())
		return (void *)dlvsym;
#define NONE(name, params)
#define SAME(name, params) if (d && function == (void *)d->name) return (void *)name;
	DRIVER_FUNCTIONS(NONE, SAME)
	return function;
}

/* A name without _v2 stands for the version of the CUDA that is asked for: cudaTypedefs.h. */
static const struct {
	const char *name;
	int since;
	bool per_thread;	/* another function with CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM */
	void *wrapper;
} by_name[] = {
	{ "cuGetProcAddress", 12000, false, (void *)cuGetProcAddress_v2 },
	{ "cuGetProcAddress", 11030, false, (void *)cuGetProcAddress },
	{ "cuModuleLoad", 2000, false, (void *)cuModuleLoad },
	{ "cuModuleLoadData", 2000, false, (void *)cuModuleLoadData },
	{ "cuModuleLoadDataEx", 2010, false, (void *)cuModuleLoadDataEx },
	{ "cuModuleLoadFatBinary", 2000, false, (void *)cuModuleLoadFatBinary },
	{ "cuModuleUnload", 2000, false, (void *)cuModuleUnload },
	{ "cuLibraryLoadData", 12000, false, (void *)cuLibraryLoadData },
	{ "cuLibraryLoadFromFile", 12000, false, (void *)cuLibraryLoadFromFile },
	{ "cuLibraryUnload", 12000, false, (void *)cuLibraryUnload },
	{ "cuLinkAddData", 6050, false, (void *)cuLinkAddData_v2 },
	{ "cuLinkAddFile", 6050, false, (void *)cuLinkAddFile_v2 },
	{ "cuCtxCreate", 12050, false, (void *)cuCtxCreate_v4 },
	{ "cuCtxCreate", 11040, false, (void *)cuCtxCreate_v3 },
	{ "cuCtxCreate", 3020, false, (void *)cuCtxCreate_v2 },
	{ "cuCtxDestroy", 4000, false, (void *)cuCtxDestroy_v2 },
	{ "cuDevicePrimaryCtxRetain", 7000, false, (void *)cuDevicePrimaryCtxRetain },
	{ "cuDevicePrimaryCtxRelease", 11000, false, (void *)cuDevicePrimaryCtxRelease_v2 },
	{ "cuDevicePrimaryCtxReset", 11000, false, (void *)cuDevicePrimaryCtxReset_v2 },
	{ "cuFuncGetAttribute", 2020, false, (void *)cuFuncGetAttribute },
	{ "cuFuncSetAttribute", 9000, false, (void *)cuFuncSetAttribute },
	{ "cuKernelGetAttribute", 12000, false, (void *)cuKernelGetAttribute },
	{ "cuKernelSetAttribute", 12000, false, (void *)cuKernelSetAttribute },
	{ "cuKernelGetFunction", 12000, false, (void *)cuKernelGetFunction },
	{ "cuLaunchKernel", 7000, true, (void *)cuLaunchKernel_ptsz },
	{ "cuLaunchKernel", 4000, false, (void *)cuLaunchKernel },
	{ "cuLaunchKernelEx", 11060, true, (void *)cuLaunchKernelEx_ptsz },
	{ "cuLaunchKernelEx", 11060, false, (void *)cuLaunchKernelEx },
	{ "cuLaunchCooperativeKernel", 9000, true, (void *)cuLaunchCooperativeKernel_ptsz },
	{ "cuLaunchCooperativeKernel", 9000, false, (void *)cuLaunchCooperativeKernel },
	{ "cuMemAlloc", 3020, false, (void *)cuMemAlloc_v2 },
	{ "cuMemAllocManaged", 6000, false, (void *)cuMemAllocManaged },
	{ "cuMemAllocPitch", 3020, false, (void *)cuMemAllocPitch_v2 },
	{ "cuMemAllocAsync", 11020, true, (void *)cuMemAllocAsync_ptsz },
	{ "cuMemAllocAsync", 11020, false, (void *)cuMemAllocAsync },
	{ "cuMemAllocFromPoolAsync", 11020, true, (void *)cuMemAllocFromPoolAsync_ptsz },
	{ "cuMemAllocFromPoolAsync", 11020, false, (void *)cuMemAllocFromPoolAsync },
	{ "cuMemFree", 3020, false, (void *)cuMemFree_v2 },
	{ "cuMemAllocHost", 3020, false, (void *)cuMemAllocHost_v2 },
	{ "cuMemHostAlloc", 2020, false, (void *)cuMemHostAlloc },
	{ "cuMemHostRegister", 6050, false, (void *)cuMemHostRegister_v2 },
	{ "cuMemFreeHost", 2000, false, (void *)cuMemFreeHost },
	{ "cuMemHostUnregister", 4000, false, (void *)cuMemHostUnregister },
	{ "cuMemMap", 10020, false, (void *)cuMemMap },
	{ "cuMemUnmap", 10020, false, (void *)cuMemUnmap },
	{ "cuIpcOpenMemHandle", 11000, false, (void *)cuIpcOpenMemHandle_v2 },
};

void *real_wrapped_name(const char *name, void *function, int version, unsigned long long flags)
{
	void *wrapper = real_wrapped(function);

	if (wrapper != function)
		return wrapper;
	for (size_t i = 0; i < sizeof(by_name) / sizeof(*by_name); i++)
		if (version >= by_name[i].since && !strcmp(name, by_name[i].name) &&
		    (!by_name[i].per_thread || flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM))
			return by_name[i].wrapper;
	return function;
}
