/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "gpuprobe/launches.h"

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

void launches_note(struct inject *inject, CUfunction f, const void *caller)
{
	const struct driver *d = inject->driver;
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
		pthread_mutex_lock(&inject->lock);
		c = modules_context(&inject->modules, ctx, device);
		pthread_mutex_unlock(&inject->lock);
	}
	launch.context = c ? c->number : 0;
	launch.frames = (uint32_t)(n - first);
	launch.name_size = (uint32_t)strnlen(name, NAME_SIZE_MAX);
	memcpy(after, frames + first, launch.frames * sizeof(uint64_t));
	memcpy(after + launch.frames * sizeof(uint64_t), name, launch.name_size);
	link_queue(&inject->link, GPUPROBE_LAUNCHES, &launch, sizeof(launch), after,
		   launch.frames * sizeof(uint64_t) + launch.name_size);
}
