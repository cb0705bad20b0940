/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Wrappers of the functions that load, link and unload images, and that create and destroy contexts. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include "agent/gpuprobe/entry.h"
#include "agent/gpuprobe/gpuprobe.h"
#include "agent/gpuprobe/load.h"

/* The driver calls its own exports, and NVRTC those of the driver: images that these load are left alone. */
static __thread bool inside __attribute__((tls_model("initial-exec")));

static CUresult load_outermost(const struct loading *how, void **handle, const void *image)
{
	CUresult r;

	if (inside)
		return loading_call(how, handle, image);
	inside = true;
	r = load_module(how, handle, image);
	inside = false;
	return r;
}

EXPORTED CUresult cuModuleLoad(CUmodule *module, const char *file)
{
	NEED(cuModuleLoad);
	struct loading how = { .driver = d, .kind = MODULE, .file = file };

	return file ? load_outermost(&how, module, NULL) : d->cuModuleLoad(module, file);
}

EXPORTED CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	NEED(cuModuleLoadData);
	struct loading how = { .driver = d, .kind = MODULE };

	return load_outermost(&how, module, image);
}

EXPORTED CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned n, int *options, void **values)
{
	NEED(cuModuleLoadDataEx);
	struct loading how = {
		.driver = d, .kind = MODULE, .function = LOAD_DATA_EX, .num_jit = n, .jit = options, .jit_values = values,
	};

	return load_outermost(&how, module, image);
}

EXPORTED CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
	NEED(cuModuleLoadFatBinary);
	struct loading how = { .driver = d, .kind = MODULE, .function = LOAD_FAT_BINARY };

	return load_outermost(&how, module, image);
}

EXPORTED CUresult cuModuleUnload(CUmodule module)
{
	NEED(cuModuleUnload);
	return load_unload(d, MODULE, module);
}

EXPORTED CUresult cuLibraryLoadData(CUlibrary *library, const void *image, int *jit, void **jit_values, unsigned num_jit,
				    int *options, void **values, unsigned num)
{
	NEED(cuLibraryLoadData);
	struct loading how = { d, LIBRARY, LOAD_DATA, NULL, num_jit, num, jit, options, jit_values, values, NULL };

	return image ? load_outermost(&how, library, image) :
		       d->cuLibraryLoadData(library, image, jit, jit_values, num_jit, options, values, num);
}

EXPORTED CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *file, int *jit, void **jit_values,
					unsigned num_jit, int *options, void **values, unsigned num)
{
	NEED(cuLibraryLoadFromFile);
	struct loading how = { d, LIBRARY, LOAD_DATA, file, num_jit, num, jit, options, jit_values, values, NULL };

	return file && d->cuLibraryLoadData ? load_outermost(&how, library, NULL) :
		d->cuLibraryLoadFromFile(library, file, jit, jit_values, num_jit, options, values, num);
}

EXPORTED CUresult cuLibraryUnload(CUlibrary library)
{
	NEED(cuLibraryUnload);
	return load_unload(d, LIBRARY, library);
}

EXPORTED CUresult cuLinkAddData_v2(CUlinkState state, int type, void *data, size_t size, const char *name, unsigned n,
				   int *options, void **values)
{
	NEED(cuLinkAddData_v2);
	size_t new_size;
	void *new = inside ? NULL : load_linked(type, data, size, &new_size);
	CUresult r = new ? d->cuLinkAddData_v2(state, type, new, new_size, name, n, options, values) : CUDA_SUCCESS;

	free(new);	/* the linker has copied it */
	return new && !r ? r : d->cuLinkAddData_v2(state, type, data, size, name, n, options, values);
}

EXPORTED CUresult cuLinkAddFile_v2(CUlinkState state, int type, const char *file, unsigned n, int *options, void **values)
{
	NEED(cuLinkAddFile_v2);
	size_t size, new_size;
	char *p = file && !inside ? load_read(file, &size) : NULL;
	void *new = p && d->cuLinkAddData_v2 ? load_linked(type, p, size, &new_size) : NULL;
	CUresult r = new ? d->cuLinkAddData_v2(state, type, new, new_size, file, n, options, values) : CUDA_SUCCESS;

	free(new);
	free(p);
	return new && !r ? r : d->cuLinkAddFile_v2(state, type, file, n, options, values);
}

#define CREATES(name, params, args, primary) \
	EXPORTED CUresult name params \
	{ \
		NEED(name); \
		CUresult r = d->name args; \
\
		if (!r && ctx) \
			gpuprobe_context_made(*ctx, dev, primary); \
		return r; \
	}
CREATES(cuCtxCreate_v2, (CUcontext *ctx, unsigned flags, CUdevice dev), (ctx, flags, dev), false)
CREATES(cuCtxCreate_v3, (CUcontext *ctx, void *params, int n, unsigned flags, CUdevice dev), (ctx, params, n, flags, dev), false)
CREATES(cuCtxCreate_v4, (CUcontext *ctx, void *params, unsigned flags, CUdevice dev), (ctx, params, flags, dev), false)
CREATES(cuDevicePrimaryCtxRetain, (CUcontext *ctx, CUdevice dev), (ctx, dev), true)

EXPORTED CUresult cuCtxDestroy_v2(CUcontext ctx)
{
	NEED(cuCtxDestroy_v2);
	struct gpuprobe *state = gpuprobe_state();
	int err = errno;
	struct context *c = state && ctx ? gpuprobe_context_close(state, ctx, 0) : NULL;
	CUresult r = d->cuCtxDestroy_v2(ctx);

	if (c)
		gpuprobe_context_closed(state, c, !r);
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
	struct gpuprobe *state = gpuprobe_state();
	int err = errno;
	struct context *c = state ? gpuprobe_context_close(state, NULL, dev) : NULL;
	CUresult r = d->cuDevicePrimaryCtxRelease_v2(dev);

	if (c)
		gpuprobe_context_closed(state, c, !r && !active(d, dev));
	errno = err;
	return r;
}

EXPORTED CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
	NEED(cuDevicePrimaryCtxReset_v2);
	struct gpuprobe *state = gpuprobe_state();
	int err = errno;
	struct context *c = state ? gpuprobe_context_close(state, NULL, dev) : NULL;
	CUresult r = d->cuDevicePrimaryCtxReset_v2(dev);

	if (c)
		gpuprobe_context_closed(state, c, !r);
	/* a reset context is used on by those that retain it */
	if (c && !r && active(d, dev))
		gpuprobe_context_made(c->ctx, dev, true);
	errno = err;
	return r;
}
