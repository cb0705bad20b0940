/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A call that loads an image, so that it can be made again with another one. */
#ifndef GPUPROBE_LOADING_H
#define GPUPROBE_LOADING_H
#include <string.h>
#include "gpuprobe/modules.h"

struct loading {
	const struct driver *driver;
	enum module_kind kind;
	/* image NULL: the file */
	CUresult (*load)(const struct loading *how, void **handle, const void *image);
	const char *file;	/* NULL: it was an image that the program passed */
	/* the arguments; which are used depends on load */
	unsigned num_jit, num;
	int *jit, *options;
	void **jit_values, **values;
	void **jit_before;	/* jit_values as the program passed them; NULL: they are called with once */
};

/* The driver writes to the values how long a log is, which would be the room for the next one. */
static inline CUresult loading_call(const struct loading *how, void **handle, const void *image)
{
	if (how->jit_before)
		memcpy(how->jit_values, how->jit_before, how->num_jit * sizeof(*how->jit_values));
	return how->load(how, handle, image);
}

static inline CUresult loading_unload(const struct loading *how, void *handle)
{
	return how->kind == MODULE ? how->driver->cuModuleUnload(handle) : how->driver->cuLibraryUnload(handle);
}

#endif
