/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The wrappers of what tells and sets attributes of kernels: those that were rewritten have what the originals had. */
#include <errno.h>
#include <stdio.h>
#include "gpuprobe/entry.h"
#include "gpuprobe/gpuprobe.h"

enum { SHARED = CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, MOST = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES };

#define NEED(name) \
	const struct driver *d = real_driver(); \
	if (!d || !d->name) \
		return CUDA_ERROR_NOT_FOUND

/* Returns a copy of what is known of a kernel; its handle is NULL if that is nothing. */
static struct kernel known(const void *handle)
{
	struct inject *inject = handle ? gpuprobe_state() : NULL;
	struct kernel copy = { .handle = NULL }, *k;
	int err = errno;

	if (inject) {
		pthread_mutex_lock(&inject->lock);
		k = kernels_find(&inject->modules.kernels, handle);
		if (k)
			copy = *k;
		pthread_mutex_unlock(&inject->lock);
	}
	errno = err;
	return copy;
}

static CUresult told(CUresult r, int *value, int attribute, const struct kernel *k)
{
	if (r || !k->handle)
		return r;
	if (attribute >= 0 && attribute < KERNEL_ATTRIBUTES)
		*value = k->attributes[attribute];
	else if (attribute == MOST && k->given && *value == k->given)
		*value = k->asked;
	return r;
}

EXPORTED CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction f)
{
	NEED(cuFuncGetAttribute);
	const struct kernel k = known(f);

	return told(d->cuFuncGetAttribute(value, attribute, f), value, attribute, &k);
}

EXPORTED CUresult cuKernelGetAttribute(int *value, int attribute, CUkernel kernel, CUdevice dev)
{
	NEED(cuKernelGetAttribute);
	struct kernel k = known(kernel);

	if (k.device != dev)
		k.handle = NULL;
	return told(d->cuKernelGetAttribute(value, attribute, kernel, dev), value, attribute, &k);
}

/* Returns what is left for a kernel if it asks for as much as the original could have, but the rewritten one cannot;
 * else -1. */
static int left_of(const struct driver *d, const struct kernel *k, int value, int shared)
{
	int most;

	if (!d->cuDeviceGetAttribute ||
	    d->cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, k->device))
		return -1;
	return value >= 0 && value <= most - k->attributes[SHARED] && value > most - shared ? most - shared : -1;
}

/* Remembers what the program believes that it has set, and has the tool say that it has not. */
static void given(const struct kernel *k, int asked, int left)
{
	struct inject *inject = gpuprobe_state();
	struct kernel *now;
	char text[160];
	int n = snprintf(text, sizeof(text), "a kernel may have %d bytes of dynamic shared memory, not the %d that were "
			 "asked for: the probe has the others; launches that use them fail", left, asked);

	if (!inject)
		return;
	link_queue(&inject->link, GPUPROBE_WARNING, text, (size_t)n, NULL, 0);
	pthread_mutex_lock(&inject->lock);
	now = kernels_find(&inject->modules.kernels, k->handle);
	if (now) {
		now->asked = asked;
		now->given = left;
	}
	pthread_mutex_unlock(&inject->lock);
}

EXPORTED CUresult cuFuncSetAttribute(CUfunction f, int attribute, int value)
{
	NEED(cuFuncSetAttribute);
	CUresult r = d->cuFuncSetAttribute(f, attribute, value);
	const struct kernel k = known(attribute == MOST ? f : NULL);
	int err = errno, shared, left = -1;

	if (!k.handle)
		return r;
	if (r == CUDA_ERROR_INVALID_VALUE && d->cuFuncGetAttribute && !d->cuFuncGetAttribute(&shared, SHARED, f))
		left = left_of(d, &k, value, shared);
	if (left >= 0 && !d->cuFuncSetAttribute(f, attribute, left)) {
		given(&k, value, left);
		r = CUDA_SUCCESS;
	}
	errno = err;
	return r;
}

EXPORTED CUresult cuKernelSetAttribute(int attribute, int value, CUkernel kernel, CUdevice dev)
{
	NEED(cuKernelSetAttribute);
	CUresult r = d->cuKernelSetAttribute(attribute, value, kernel, dev);
	const struct kernel k = known(attribute == MOST ? kernel : NULL);
	int err = errno, shared, left = -1;

	if (!k.handle || k.device != dev)
		return r;
	if (r == CUDA_ERROR_INVALID_VALUE && d->cuKernelGetAttribute &&
	    !d->cuKernelGetAttribute(&shared, SHARED, kernel, dev))
		left = left_of(d, &k, value, shared);
	if (left >= 0 && !d->cuKernelSetAttribute(attribute, left, kernel, dev)) {
		given(&k, value, left);
		r = CUDA_SUCCESS;
	}
	errno = err;
	return r;
}

EXPORTED CUresult cuKernelGetFunction(CUfunction *f, CUkernel kernel)
{
	NEED(cuKernelGetFunction);
	CUresult r = d->cuKernelGetFunction(f, kernel);
	struct inject *inject = !r && f ? gpuprobe_state() : NULL;
	struct kernel k = known(inject ? kernel : NULL);
	struct context *c;
	CUdevice device;
	int err = errno;
	CUcontext ctx;

	if (k.handle && !d->cuCtxGetCurrent(&ctx) && !d->cuCtxGetDevice(&device) && device == k.device) {
		pthread_mutex_lock(&inject->lock);
		c = modules_context(&inject->modules, ctx, device);
		k.handle = *f;
		k.context_gone = c ? &c->gone : NULL;
		if (kernels_find(&inject->modules.kernels, kernel))	/* still */
			kernels_add(&inject->modules.kernels, &k);
		pthread_mutex_unlock(&inject->lock);
	}
	errno = err;
	return r;
}
