/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The wrappers of what launches kernels. */
#include <errno.h>
#include "gpuprobe/entry.h"
#include "gpuprobe/launches.h"

#define NEED(name) \
	const struct driver *d = real_driver(); \
	if (!d || !d->name) \
		return CUDA_ERROR_NOT_FOUND

/* Few tools ask for calls. */
static inline CUresult launched(CUresult r, CUfunction f, const void *caller)
{
	struct inject *inject = !r ? gpuprobe_state() : NULL;

	if (inject && inject->config.flags & GPUPROBE_CALLS) {
		int err = errno;

		launches_note(inject, f, caller);
		errno = err;
	}
	return r;
}

#define LAUNCHED(call) return launched(d->call, f, __builtin_return_address(0))

EXPORTED CUresult cuLaunchKernel(LAUNCH_SHAPE, void **extra)
{
	NEED(cuLaunchKernel);
	LAUNCHED(cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra));
}

EXPORTED CUresult cuLaunchKernel_ptsz(LAUNCH_SHAPE, void **extra)
{
	NEED(cuLaunchKernel_ptsz);
	LAUNCHED(cuLaunchKernel_ptsz(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra));
}

EXPORTED CUresult cuLaunchKernelEx(const struct CUlaunchConfig *how, CUfunction f, void **params, void **extra)
{
	NEED(cuLaunchKernelEx);
	LAUNCHED(cuLaunchKernelEx(how, f, params, extra));
}

EXPORTED CUresult cuLaunchKernelEx_ptsz(const struct CUlaunchConfig *how, CUfunction f, void **params, void **extra)
{
	NEED(cuLaunchKernelEx_ptsz);
	LAUNCHED(cuLaunchKernelEx_ptsz(how, f, params, extra));
}

EXPORTED CUresult cuLaunchCooperativeKernel(LAUNCH_SHAPE)
{
	NEED(cuLaunchCooperativeKernel);
	LAUNCHED(cuLaunchCooperativeKernel(f, gx, gy, gz, bx, by, bz, shared, stream, params));
}

EXPORTED CUresult cuLaunchCooperativeKernel_ptsz(LAUNCH_SHAPE)
{
	NEED(cuLaunchCooperativeKernel_ptsz);
	LAUNCHED(cuLaunchCooperativeKernel_ptsz(f, gx, gy, gz, bx, by, bz, shared, stream, params));
}
