/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The functions behind the wrappers.  All of it can be called at any time, also before any constructor has run, and
 * from several threads at once: what is found is always the same. */
#ifndef GPUPROBE_REAL_H
#define GPUPROBE_REAL_H
#include "gpuprobe/cuda.h"

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

/* Returns the wrapper of one of the driver's or the linker's functions, or the function itself. */
void *real_wrapped(void *function);

/* The same by the name that cuGetProcAddress was asked for; not all drivers return their exports. */
void *real_wrapped_name(const char *name, void *function, int version, unsigned long long flags);

#endif
