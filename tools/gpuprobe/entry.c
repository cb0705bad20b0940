/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The wrappers of what loads, links and unloads images, and makes and destroys contexts. */
#include <stdbool.h>
#include <stdlib.h>
#include "gpuprobe/contexts.h"
#include "gpuprobe/entry.h"
#include "gpuprobe/load.h"

/* The driver calls its own exports, and NVRTC the driver: what they load is theirs. */
static __thread bool inside __attribute__((tls_model("initial-exec")));

/* Return from a wrapper whose function the driver does not have, or without a driver. */
#define NEED(name) \
	const struct driver *d = real_driver(); \
	if (!d || !d->name) \
		return CUDA_ERROR_NOT_FOUND

static CUresult load_outermost(const struct loading *how, void **handle, const void *image)
{
	CUresult r;

	if (inside)
		return how->load(how, handle, image);
	inside = true;
	r = how->file ? load_file(how, handle) : load_image(how, handle, image, 0);
	inside = false;
	return r;
}

static CUresult module_load(const struct loading *how, void **handle, const void *image)
{
	return image ? how->driver->cuModuleLoadData(handle, image) : how->driver->cuModuleLoad(handle, how->file);
}

EXPORTED CUresult cuModuleLoad(CUmodule *module, const char *file)
{
	NEED(cuModuleLoad);
	struct loading how = { .driver = d, .kind = MODULE, .load = module_load, .file = file };

	return file ? load_outermost(&how, module, NULL) : d->cuModuleLoad(module, file);
}

static CUresult module_load_data(const struct loading *how, void **handle, const void *image)
{
	return how->driver->cuModuleLoadData(handle, image);
}

EXPORTED CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	NEED(cuModuleLoadData);
	struct loading how = { .driver = d, .kind = MODULE, .load = module_load_data };

	return load_outermost(&how, module, image);
}

static CUresult module_load_data_ex(const struct loading *how, void **handle, const void *image)
{
	return how->driver->cuModuleLoadDataEx(handle, image, how->num_jit, how->jit, how->jit_values);
}

EXPORTED CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned n, int *options, void **values)
{
	NEED(cuModuleLoadDataEx);
	struct loading how = {
		.driver = d, .kind = MODULE, .load = module_load_data_ex, .num_jit = n, .jit = options, .jit_values = values,
	};

	return load_outermost(&how, module, image);
}

static CUresult module_load_fat(const struct loading *how, void **handle, const void *image)
{
	return how->driver->cuModuleLoadFatBinary(handle, image);
}

EXPORTED CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
	NEED(cuModuleLoadFatBinary);
	struct loading how = { .driver = d, .kind = MODULE, .load = module_load_fat };

	return load_outermost(&how, module, image);
}

EXPORTED CUresult cuModuleUnload(CUmodule module)
{
	NEED(cuModuleUnload);
	return load_unload(d, MODULE, module);
}

static CUresult library_load(const struct loading *how, void **handle, const void *image)
{
	const struct driver *d = how->driver;

	return image ? d->cuLibraryLoadData(handle, image, how->jit, how->jit_values, how->num_jit, how->options,
					    how->values, how->num) :
		       d->cuLibraryLoadFromFile(handle, how->file, how->jit, how->jit_values, how->num_jit, how->options,
						how->values, how->num);
}

EXPORTED CUresult cuLibraryLoadData(CUlibrary *library, const void *image, int *jit, void **jit_values, unsigned num_jit,
				    int *options, void **values, unsigned num)
{
	NEED(cuLibraryLoadData);
	struct loading how = { d, LIBRARY, library_load, NULL, num_jit, num, jit, options, jit_values, values, NULL };

	return image ? load_outermost(&how, library, image) :
		       d->cuLibraryLoadData(library, image, jit, jit_values, num_jit, options, values, num);
}

EXPORTED CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *file, int *jit, void **jit_values,
					unsigned num_jit, int *options, void **values, unsigned num)
{
	NEED(cuLibraryLoadFromFile);
	struct loading how = { d, LIBRARY, library_load, file, num_jit, num, jit, options, jit_values, values, NULL };

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

	free(new);	/* the linker keeps nothing */
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
