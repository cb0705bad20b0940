/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The wrappers of what makes and destroys contexts. */
#include <errno.h>
#include "gpuprobe/contexts.h"
#include "gpuprobe/entry.h"

#define NEED(name) \
	const struct driver *d = real_driver(); \
	if (!d || !d->name) \
		return CUDA_ERROR_NOT_FOUND

static CUresult made(CUresult r, const CUcontext *ctx, CUdevice dev, bool primary)
{
	if (!r && ctx)
		gpuprobe_context_made(*ctx, dev, primary);
	return r;
}

EXPORTED CUresult cuCtxCreate_v2(CUcontext *ctx, unsigned flags, CUdevice dev)
{
	NEED(cuCtxCreate_v2);
	return made(d->cuCtxCreate_v2(ctx, flags, dev), ctx, dev, false);
}

EXPORTED CUresult cuCtxCreate_v3(CUcontext *ctx, void *params, int n, unsigned flags, CUdevice dev)
{
	NEED(cuCtxCreate_v3);
	return made(d->cuCtxCreate_v3(ctx, params, n, flags, dev), ctx, dev, false);
}

EXPORTED CUresult cuCtxCreate_v4(CUcontext *ctx, void *params, unsigned flags, CUdevice dev)
{
	NEED(cuCtxCreate_v4);
	return made(d->cuCtxCreate_v4(ctx, params, flags, dev), ctx, dev, false);
}

EXPORTED CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev)
{
	NEED(cuDevicePrimaryCtxRetain);
	return made(d->cuDevicePrimaryCtxRetain(ctx, dev), ctx, dev, true);
}

EXPORTED CUresult cuCtxDestroy_v2(CUcontext ctx)
{
	NEED(cuCtxDestroy_v2);
	struct inject *inject = gpuprobe_state();
	int err = errno;
	struct context *c = inject && ctx ? contexts_close(inject, ctx, 0) : NULL;
	CUresult r = d->cuCtxDestroy_v2(ctx);

	if (c)
		contexts_closed(inject, c, !r);
	if (!r)
		gpuprobe_context_gone(ctx);
	errno = err;
	return r;
}

static bool active(const struct driver *d, CUdevice dev)
{
	unsigned flags;
	int is_active = 0;

	return d->cuDevicePrimaryCtxGetState && !d->cuDevicePrimaryCtxGetState(dev, &flags, &is_active) && is_active;
}

EXPORTED CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	NEED(cuDevicePrimaryCtxRelease_v2);
	struct inject *inject = gpuprobe_state();
	int err = errno;
	struct context *c = inject ? contexts_close(inject, NULL, dev) : NULL;
	CUresult r = d->cuDevicePrimaryCtxRelease_v2(dev);

	if (c)
		contexts_closed(inject, c, !r && !active(d, dev));
	errno = err;
	return r;
}

EXPORTED CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
	NEED(cuDevicePrimaryCtxReset_v2);
	struct inject *inject = gpuprobe_state();
	int err = errno;
	struct context *c = inject ? contexts_close(inject, NULL, dev) : NULL;
	CUresult r = d->cuDevicePrimaryCtxReset_v2(dev);

	if (c)
		contexts_closed(inject, c, !r);
	/* who holds it still uses it, made anew */
	if (c && !r && active(d, dev))
		gpuprobe_context_made(c->ctx, dev, true);
	errno = err;
	return r;
}
