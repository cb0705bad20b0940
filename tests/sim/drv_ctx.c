/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: devices and contexts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drv.h"
#include "drv_code.h"

int drv_devices = 2;
size_t drv_memory = 16ULL << 30;
int sim_driver_state HIDDEN;	/* what the exports' first instruction looks at */

static int initialised;
static struct CUctx_st primary[MAX_DEVICES];
static struct CUctx_st *contexts;	/* those of cuCtxCreate */
static __thread CUcontext stack[32];
static __thread int depth;

static void __attribute__((constructor)) setup(void)
{
	const char *env = getenv("SIM_DEVICES");
	int i;

	if (env && *env)
		drv_devices = atoi(env);
	if (drv_devices < 0 || drv_devices > MAX_DEVICES)
		drv_devices = MAX_DEVICES;
	env = getenv("SIM_MEMORY");
	if (env && *env)
		drv_memory = sim_size(env);
	for (i = 0; i < MAX_DEVICES; i++)
		primary[i] = (struct CUctx_st) { .dev = i, .primary = 1, .id = (uint32_t)i + 1 };
}

static int alive(CUcontext ctx)
{
	struct CUctx_st *c = contexts;

	if (ctx >= primary && ctx < primary + drv_devices)
		return 1;
	while (c && c != ctx)
		c = c->next;
	return c != NULL;
}

CUcontext drv_current(void)
{
	return depth ? stack[depth - 1] : NULL;
}

CUresult drv_check(void)
{
	if (!initialised)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (unlikely(drv_faults) && drv_told())
		return drv_told();
	return drv_current() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

static int bad_device(int dev)
{
	return dev < 0 || dev >= drv_devices;
}

DRV_QUIET(cuInit)(unsigned flags)
{
	DRV_RULES(cuInit);
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (!drv_devices)
		return CUDA_ERROR_NO_DEVICE;
	initialised = 1;
	drv_inject();
	return CUDA_SUCCESS;
}

DRV_QUIET(cuDriverGetVersion)(int *version)
{
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = 13000;
	return CUDA_SUCCESS;
}

DRV_QUIET(cuDeviceGetCount)(int *count)
{
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	*count = drv_devices;
	return initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

DRV_QUIET(cuDeviceGet)(CUdevice *device, int ordinal)
{
	if (!initialised)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	if (bad_device(ordinal))
		return CUDA_ERROR_INVALID_DEVICE;
	*device = ordinal;
	return CUDA_SUCCESS;
}

DRV_QUIET(cuDeviceGetName)(char *name, int len, CUdevice dev)
{
	if (!name || len <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (bad_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(name, len, "Simulated GPU %d", dev);
	return CUDA_SUCCESS;
}

DRV_QUIET(cuDeviceTotalMem_v2)(size_t *bytes, CUdevice dev)
{
	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (bad_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*bytes = drv_memory;
	return CUDA_SUCCESS;
}

static CUresult push(CUcontext ctx)
{
	if (depth == sizeof(stack) / sizeof(*stack))
		return CUDA_ERROR_OUT_OF_MEMORY;
	stack[depth++] = ctx;
	return CUDA_SUCCESS;
}

static CUresult create(CUcontext *ctx, CUdevice dev)
{
	static uint32_t last = MAX_DEVICES;
	CUcontext c;

	if (!initialised)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!ctx)
		return CUDA_ERROR_INVALID_VALUE;
	if (bad_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	c = calloc(1, sizeof(*c));
	if (!c)
		return CUDA_ERROR_OUT_OF_MEMORY;
	c->dev = dev;
	c->refs = 1;
	pthread_mutex_lock(&drv_lock);
	c->id = ++last;
	c->next = contexts;
	contexts = c;
	pthread_mutex_unlock(&drv_lock);
	*ctx = c;
	return push(c);
}

DRV(cuCtxCreate_v2, (CUcontext *ctx, unsigned flags, CUdevice dev), (ctx, flags, dev),
    "%d 0x%lx", dev, OUT(ctx))
{
	(void)flags;
	return create(ctx, dev);
}

DRV(cuCtxCreate_v3,
    (CUcontext *ctx, CUexecAffinityParam *params, int count, unsigned flags, CUdevice dev),
    (ctx, params, count, flags, dev), "%d 0x%lx", dev, OUT(ctx))
{
	(void)params, (void)count, (void)flags;
	return create(ctx, dev);
}

DRV(cuCtxCreate_v4, (CUcontext *ctx, CUctxCreateParams *params, unsigned flags, CUdevice dev),
    (ctx, params, flags, dev), "%d 0x%lx", dev, OUT(ctx))
{
	(void)params, (void)flags;
	return create(ctx, dev);
}

DRV_ANYWAY(cuCtxDestroy_v2, (CUcontext ctx), (ctx), "0x%lx", P(ctx))
{
	struct CUctx_st **p;
	int found;

	pthread_mutex_lock(&drv_lock);
	for (p = &contexts; *p && *p != ctx; p = &(*p)->next)
		;
	found = *p != NULL;
	if (found) {
		*p = ctx->next;
		blocks_of_context_free(ctx);
		drv_fault_clear(ctx);
	}
	pthread_mutex_unlock(&drv_lock);
	if (!found)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (drv_current() == ctx)
		depth--;
	free(ctx);
	return CUDA_SUCCESS;
}

DRV_QUIET(cuCtxGetCurrent)(CUcontext *ctx)
{
	if (!ctx)
		return CUDA_ERROR_INVALID_VALUE;
	*ctx = drv_current();
	return initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

DRV_QUIET(cuCtxSetCurrent)(CUcontext ctx)
{
	int known;

	if (!initialised)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!ctx) {
		depth -= depth > 0;
		return CUDA_SUCCESS;
	}
	pthread_mutex_lock(&drv_lock);
	known = alive(ctx);
	pthread_mutex_unlock(&drv_lock);
	if (!known)
		return CUDA_ERROR_INVALID_CONTEXT;
	depth -= depth > 0;
	return push(ctx);
}

DRV_QUIET(cuCtxPushCurrent_v2)(CUcontext ctx)
{
	return ctx ? push(ctx) : CUDA_ERROR_INVALID_VALUE;
}

DRV_QUIET(cuCtxPopCurrent_v2)(CUcontext *ctx)
{
	if (!depth)
		return CUDA_ERROR_INVALID_CONTEXT;
	depth--;
	if (ctx)
		*ctx = stack[depth];
	return CUDA_SUCCESS;
}

DRV_QUIET(cuCtxSetLimit)(CUlimit limit, size_t value)
{
	(void)value;
	return !drv_current() ? CUDA_ERROR_INVALID_CONTEXT : (unsigned)limit > CU_LIMIT_MALLOC_HEAP_SIZE ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

DRV_QUIET(cuCtxGetDevice)(CUdevice *dev)
{
	if (!initialised)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!drv_current())
		return CUDA_ERROR_INVALID_CONTEXT;
	*dev = drv_current()->dev;
	return CUDA_SUCCESS;
}

DRV_QUIET(cuDevicePrimaryCtxRetain)(CUcontext *ctx, CUdevice dev)
{
	DRV_RULES(cuDevicePrimaryCtxRetain);
	if (!initialised)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!ctx)
		return CUDA_ERROR_INVALID_VALUE;
	if (bad_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&drv_lock);
	primary[dev].refs++;
	pthread_mutex_unlock(&drv_lock);
	*ctx = &primary[dev];
	return CUDA_SUCCESS;
}

/* Of a primary context nothing is left but its handle. */
static void empty(CUcontext ctx)
{
	code_reset(ctx->dev);
	pthread_mutex_lock(&drv_lock);
	blocks_of_context_free(ctx);
	drv_fault_clear(ctx);
	pthread_mutex_unlock(&drv_lock);
}

DRV_ANYWAY(cuDevicePrimaryCtxRelease_v2, (CUdevice dev), (dev), "%d", dev)
{
	CUresult r = CUDA_SUCCESS;

	int last;

	if (bad_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&drv_lock);
	last = primary[dev].refs == 1;
	if (!primary[dev].refs)
		r = CUDA_ERROR_INVALID_CONTEXT;
	else
		primary[dev].refs--;
	pthread_mutex_unlock(&drv_lock);
	if (last)
		empty(&primary[dev]);
	return r;
}

DRV_ANYWAY(cuDevicePrimaryCtxReset_v2, (CUdevice dev), (dev), "%d", dev)
{
	if (bad_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	empty(&primary[dev]);
	return CUDA_SUCCESS;
}

DRV_QUIET(cuDevicePrimaryCtxGetState)(CUdevice dev, unsigned *flags, int *active)
{
	if (bad_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*flags = 0;
	*active = primary[dev].refs > 0;
	return CUDA_SUCCESS;
}

DRV(cuCtxSynchronize, (void), (), "%s", "")
{
	drv_work_wait(NULL, UINT64_MAX);
	return drv_sync();
}
