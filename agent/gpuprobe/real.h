/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The functions that the wrappers call.  All can be called at any time, also before constructors have run, and from
 * several threads: the results never change. */
#ifndef AGENT_GPUPROBE_REAL_H
#define AGENT_GPUPROBE_REAL_H
#include "agent/gpuprobe/cuda.h"

#define POINTER(name, params) CUresult (*name) params;
struct driver {
	DRIVER_FUNCTIONS(POINTER, POINTER)
};

typedef void *dlsym_fn(void *handle, const char *name);
typedef void *dlvsym_fn(void *handle, const char *name, const char *version);

/* The dynamic linker's own, or NULL. */
dlsym_fn *real_dlsym(void);
dlvsym_fn *real_dlvsym(void);

/* Returns the driver's functions; those that it does not have are NULL.  NULL: no driver is loaded. */
const struct driver *real_driver(void);

#endif
