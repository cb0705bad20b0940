/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A call that loads an image, so that it can be made again with another one. */
#ifndef INJECT_LOADING_H
#define INJECT_LOADING_H
#include "inject/modules.h"

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
};

static inline CUresult loading_unload(const struct loading *how, void *handle)
{
	return how->kind == MODULE ? how->driver->cuModuleUnload(handle) : how->driver->cuLibraryUnload(handle);
}

#endif
