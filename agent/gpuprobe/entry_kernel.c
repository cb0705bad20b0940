/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Wrappers of the functions that get and set attributes of kernels, where rewritten kernels report those of the originals;
 * and of the functions that launch kernels, which are reported with their stacks if the tool asks for it. */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "agent/gpuprobe/entry.h"
#include "agent/gpuprobe/gpuprobe.h"
#include "base/clock.h"

enum { SHARED = CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, MOST = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES };

/* Returns a copy of a kernel's attributes; its handle is NULL if the kernel is unknown. */
static struct kernel known(const void *handle)
{
	struct gpuprobe *state = handle ? gpuprobe_state() : NULL;
	struct kernel copy = { .handle = NULL }, *k;
	int err = errno;

	if (state) {
		pthread_mutex_lock(&state->lock);
		k = kernels_find(&state->modules.kernels, handle);
		if (k)
			copy = *k;
		pthread_mutex_unlock(&state->lock);
	}
	errno = err;
	return copy;
}

static CUresult original_value(CUresult r, int *value, int attribute, const struct kernel *k)
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

	return original_value(d->cuFuncGetAttribute(value, attribute, f), value, attribute, &k);
}

EXPORTED CUresult cuKernelGetAttribute(int *value, int attribute, CUkernel kernel, CUdevice dev)
{
	NEED(cuKernelGetAttribute);
	struct kernel k = known(kernel);

	if (k.device != dev)
		k.handle = NULL;
	return original_value(d->cuKernelGetAttribute(value, attribute, kernel, dev), value, attribute, &k);
}

/* Returns the dynamic shared memory left for a rewritten kernel, if the original could have `value` bytes and it cannot;
 * else -1. */
static int left_of(const struct driver *d, const struct kernel *k, int value, int shared)
{
	int most;

	if (!d->cuDeviceGetAttribute ||
	    d->cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, k->device))
		return -1;
	return value >= 0 && value <= most - k->attributes[SHARED] && value > most - shared ? most - shared : -1;
}

/* Records the value that the program believes it has set, and makes the tool print a warning. */
static void set_to_rest(const struct kernel *k, int asked, int left)
{
	struct gpuprobe *state = gpuprobe_state();
	struct kernel *now;
	char text[160];
	int n = snprintf(text, sizeof(text), "a kernel may have %d bytes of dynamic shared memory, not the %d that were "
			 "asked for: the probe has the others; launches that use them fail", left, asked);

	if (!state)
		return;
	link_queue(&state->link, GPUPROBE_WARNING, text, (size_t)n, NULL, 0);
	pthread_mutex_lock(&state->lock);
	now = kernels_find(&state->modules.kernels, k->handle);
	if (now) {
		now->asked = asked;
		now->given = left;
	}
	pthread_mutex_unlock(&state->lock);
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
		set_to_rest(&k, value, left);
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
		set_to_rest(&k, value, left);
		r = CUDA_SUCCESS;
	}
	errno = err;
	return r;
}

EXPORTED CUresult cuKernelGetFunction(CUfunction *f, CUkernel kernel)
{
	NEED(cuKernelGetFunction);
	CUresult r = d->cuKernelGetFunction(f, kernel);
	struct gpuprobe *state = !r && f ? gpuprobe_state() : NULL;
	struct kernel k = known(state ? kernel : NULL);
	struct context *c;
	CUdevice device;
	int err = errno;
	CUcontext ctx;

	if (k.handle && !d->cuCtxGetCurrent(&ctx) && !d->cuCtxGetDevice(&device) && device == k.device) {
		pthread_mutex_lock(&state->lock);
		c = modules_context(&state->modules, ctx, device);
		k.handle = *f;
		k.context_gone = c ? &c->gone : NULL;
		if (kernels_find(&state->modules.kernels, kernel))	/* still */
			kernels_add(&state->modules.kernels, &k);
		pthread_mutex_unlock(&state->lock);
	}
	errno = err;
	return r;
}

enum { FRAMES = 128, NAME_SIZE_MAX = 4096, OWN_FRAMES = 8 };

/* In CUDA 12 and later a CUfunction may be a CUkernel. */
static const char *name_of(const struct driver *d, CUfunction f)
{
	const char *name = NULL;

	if (d->cuFuncGetName && !d->cuFuncGetName(&name, f) && name)
		return name;
	if (d->cuKernelGetName && !d->cuKernelGetName(&name, f) && name)
		return name;
	return "";
}

/* Reports a call that launched a kernel, with the stack above `caller`, the wrapper's return address. */
static void report_launch(struct gpuprobe *state, CUfunction f, const void *caller)
{
	const struct driver *d = state->driver;
	struct gpuprobe_launch launch = { .time = clock_ns(), .tid = (uint32_t)gettid() };
	char after[FRAMES * sizeof(uint64_t) + NAME_SIZE_MAX];
	CUcontext ctx = NULL;
	void *frames[FRAMES];
	const char *name = name_of(d, f);
	struct context *c = NULL;
	CUdevice device;
	int n, first = 0;

	n = backtrace(frames, FRAMES);
	while (first < n && first < OWN_FRAMES && frames[first] != caller)
		first++;
	if (first == n || first == OWN_FRAMES)
		first = 0;
	if (!d->cuCtxGetCurrent(&ctx) && ctx && !d->cuCtxGetDevice(&device)) {
		pthread_mutex_lock(&state->lock);
		c = modules_context(&state->modules, ctx, device);
		pthread_mutex_unlock(&state->lock);
	}
	launch.context = c ? c->number : 0;
	launch.frames = (uint32_t)(n - first);
	launch.name_size = (uint32_t)strnlen(name, NAME_SIZE_MAX);
	memcpy(after, frames + first, launch.frames * sizeof(uint64_t));
	memcpy(after + launch.frames * sizeof(uint64_t), name, launch.name_size);
	link_queue(&state->link, GPUPROBE_LAUNCHES, &launch, sizeof(launch), after,
		   launch.frames * sizeof(uint64_t) + launch.name_size);
}

static inline CUresult launched(CUresult r, CUfunction f, const void *caller)
{
	struct gpuprobe *state = !r ? gpuprobe_state() : NULL;

	if (state && state->config.flags & GPUPROBE_CALLS) {
		int err = errno;

		report_launch(state, f, caller);
		errno = err;
	}
	return r;
}

#define LAUNCH(name, params, args) \
	EXPORTED CUresult name params \
	{ \
		NEED(name); \
		return launched(d->name args, f, __builtin_return_address(0)); \
	}
LAUNCH(cuLaunchKernel, (LAUNCH_SHAPE, void **extra), (f, gx, gy, gz, bx, by, bz, shared, stream, params, extra))
LAUNCH(cuLaunchKernel_ptsz, (LAUNCH_SHAPE, void **extra), (f, gx, gy, gz, bx, by, bz, shared, stream, params, extra))
LAUNCH(cuLaunchKernelEx, (const struct CUlaunchConfig *config, CUfunction f, void **params, void **extra),
       (config, f, params, extra))
LAUNCH(cuLaunchKernelEx_ptsz, (const struct CUlaunchConfig *config, CUfunction f, void **params, void **extra),
       (config, f, params, extra))
LAUNCH(cuLaunchCooperativeKernel, (LAUNCH_SHAPE), (f, gx, gy, gz, bx, by, bz, shared, stream, params))
LAUNCH(cuLaunchCooperativeKernel_ptsz, (LAUNCH_SHAPE), (f, gx, gy, gz, bx, by, bz, shared, stream, params))
