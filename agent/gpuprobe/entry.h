/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The library's exports (gpuprobe.map), besides the driver's functions of cuda.h. */
#ifndef AGENT_GPUPROBE_ENTRY_H
#define AGENT_GPUPROBE_ENTRY_H
#include <dlfcn.h>
#include "agent/gpuprobe/real.h"

#define EXPORTED __attribute__((visibility("default")))

/* Begins a wrapper: returns from it if there is no driver, or the driver has no such function. */
#define NEED(name) \
	const struct driver *d = real_driver(); \
	if (!d || !d->name) \
		return CUDA_ERROR_NOT_FOUND

typedef int nvrtcResult;
typedef void *nvrtcProgram;
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *cubin);

/* For the stubs of dlsym and dlvsym, in entry_dl.c: return the result, or NULL to make the stub jump to the dynamic
 * linker's own function, which then sees the caller's return address. */
void *entry_dlsym(void *handle, const char *name);
void *entry_dlvsym(void *handle, const char *name, const char *version);

#endif
