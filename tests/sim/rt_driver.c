/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runtime: finding the driver, devices, errors. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "errors.h"
#include "rt.h"

struct rt_driver rt_driver[2];
__thread int rt_device;
__thread cudaError_t rt_last_error;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static cudaError_t loaded;
static __typeof__(cuGetProcAddress_v2) *get;
static CUcontext primary[RT_DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Asked for without its version, as the real one does. */
static void *entry(const char *name, int pt)
{
	CUdriverProcAddressQueryResult status;
	const char *end = strstr(name, "_v");
	char symbol[64];
	void *p = NULL;

	snprintf(symbol, sizeof(symbol), "%.*s",
		 (int)(end ? (size_t)(end - name) : strlen(name)), name);
	if (get(symbol, &p, SIM_CUDART * 1000,
		pt ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM :
		     CU_GET_PROC_ADDRESS_LEGACY_STREAM, &status))
		return NULL;
	return p;
}

static void hold(void)
{
	pthread_mutex_lock(&rt_register_lock);
	pthread_mutex_lock(&lock);
}

static void release(void)
{
	pthread_mutex_unlock(&lock);
	pthread_mutex_unlock(&rt_register_lock);
}

static void load(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	int pt;

	loaded = cudaErrorInsufficientDriver;
	if (!lib)
		return;
	*(void **)&get = dlsym(lib, "cuGetProcAddress_v2");
	if (!get)
		return;
	/* after the driver, whose own lock is taken inside of these: fork() runs the last first */
	pthread_atfork(hold, release, release);
	for (pt = 0; pt < 2; pt++) {
#define RT_FIND(name) \
		*(void **)&rt_driver[pt].name = entry(#name, pt); \
		if (!rt_driver[pt].name) \
			return;
		RT_DRIVER_PLAIN(RT_FIND)
		RT_DRIVER_THREAD(RT_FIND)
	}
	loaded = (cudaError_t)rt_driver[0].cuInit(0);
}

cudaError_t rt_driver_load(void)
{
	pthread_once(&once, load);
	return loaded;
}

CUcontext rt_primary(int dev)
{
	CUcontext ctx = NULL;

	if (dev < 0 || dev >= RT_DEVICES)
		return NULL;
	pthread_mutex_lock(&lock);
	if (!primary[dev] && rt_driver[0].cuDevicePrimaryCtxRetain(&ctx, dev) == CUDA_SUCCESS)
		primary[dev] = ctx;
	ctx = primary[dev];
	pthread_mutex_unlock(&lock);
	return ctx;
}

cudaError_t rt_enter(void)
{
	pt_none;
	cudaError_t r = rt_driver_load();
	CUcontext ctx;

	if (r)
		return r;
	if (D->cuCtxGetCurrent(&ctx) == CUDA_SUCCESS && ctx)
		return cudaSuccess;
	ctx = rt_primary(rt_device);
	if (!ctx)
		return cudaErrorInvalidDevice;
	return (cudaError_t)D->cuCtxSetCurrent(ctx);
}

cudaError_t rt_done(int ret)
{
	if (unlikely(ret) && ret != cudaErrorNotReady)
		rt_last_error = (cudaError_t)ret;
	return (cudaError_t)ret;
}

RT_QUIET(cudaGetLastError)(void)
{
	cudaError_t r = rt_last_error;

	rt_last_error = cudaSuccess;
	return r;
}

RT_QUIET(cudaPeekAtLastError)(void)
{
	return rt_last_error;
}

RT_EXPORTED const char *cudaGetErrorName(cudaError_t error)
{
	const struct error *e = error_find((int)error);

	RT_FRAME();
	return e ? e->runtime : "unrecognized error code";
}

RT_EXPORTED const char *cudaGetErrorString(cudaError_t error)
{
	const struct error *e = error_find((int)error);

	RT_FRAME();
	return e ? e->text : "unrecognized error code";
}

RT_QUIET(cudaRuntimeGetVersion)(int *version)
{
	if (!version)
		return rt_done(cudaErrorInvalidValue);
	*version = SIM_CUDART * 1000;
	return cudaSuccess;
}

/* Without a driver its version is 0, and that is no error. */
RT_QUIET(cudaDriverGetVersion)(int *version)
{
	if (!version)
		return rt_done(cudaErrorInvalidValue);
	*version = 0;
	if (rt_driver_load() == cudaSuccess)
		rt_driver[0].cuDriverGetVersion(version);
	return cudaSuccess;
}

RT_QUIET(cudaGetDriverEntryPoint)(const char *symbol, void **function, unsigned long long flags,
				  enum cudaDriverEntryPointQueryResult *status)
{
	cudaError_t r = rt_driver_load();

	if (!r && (!symbol || !function))
		r = cudaErrorInvalidValue;
	if (r)
		return rt_done(r);
	if (get(symbol, function, SIM_CUDART * 1000, flags, NULL))
		*function = NULL;
	if (status)
		*status = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
	return cudaSuccess;
}

RT_QUIET(cudaGetDeviceCount)(int *count)
{
	cudaError_t r = rt_driver_load();

	if (!count)
		r = cudaErrorInvalidValue;
	else if (r)
		*count = 0;
	else
		r = (cudaError_t)rt_driver[0].cuDeviceGetCount(count);
	return rt_done(r);
}

RT(cudaSetDevice, (int dev), (dev), "%d", dev)
{
	cudaError_t r = rt_driver_load();
	CUcontext ctx;

	if (r)
		return r;
	ctx = rt_primary(dev);
	if (!ctx)
		return cudaErrorInvalidDevice;
	rt_device = dev;
	return (cudaError_t)rt_driver[0].cuCtxSetCurrent(ctx);
}

RT_QUIET(cudaGetDevice)(int *dev)
{
	cudaError_t r = rt_driver_load();
	CUcontext ctx;
	CUdevice current;

	if (!r && !dev)
		r = cudaErrorInvalidValue;
	if (!r) {
		*dev = rt_device;
		if (rt_driver[0].cuCtxGetCurrent(&ctx) == CUDA_SUCCESS && ctx &&
		    rt_driver[0].cuCtxGetDevice(&current) == CUDA_SUCCESS)
			*dev = current;
	}
	return rt_done(r);
}

RT_QUIET(cudaDeviceGetAttribute)(int *value, enum cudaDeviceAttr attribute, int dev)
{
	cudaError_t r = rt_driver_load();

	if (!r)
		r = (cudaError_t)rt_driver[0].cuDeviceGetAttribute(value,
			(CUdevice_attribute)attribute, dev);
	return rt_done(r);
}

RT(cudaDeviceSynchronize, (void), (), "%s", "")
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuCtxSynchronize();
}

RT_QUIET(cudaDeviceSetLimit)(enum cudaLimit limit, size_t value)
{
	cudaError_t r = rt_enter();

	return rt_done(r ? r : (cudaError_t)rt_driver[0].cuCtxSetLimit((CUlimit)limit, value));
}

RT(cudaDeviceReset, (void), (), "%s", "")
{
	pt_none;
	int dev;

	RT_ENTER();
	if (D->cuCtxGetDevice(&dev) != CUDA_SUCCESS)
		dev = rt_device;
	return (cudaError_t)D->cuDevicePrimaryCtxReset_v2(dev);
}
