/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: modules, libraries, and what they have by name. */
#include <stdio.h>
#include <string.h>
#include "drv_module.h"

/* An image in memory says itself how long it is. */
#define IN_MEMORY (SIZE_MAX >> 1)

static CUresult loaded(CUmodule *module, CUresult r)
{
	struct interp_module *m;
	struct image *image;

	if (r)
		return r;
	image = *(struct image **)module;
	r = image->code ? code_module(image->code, &m) : CUDA_SUCCESS;
	if (r)
		image_unload(image);
	return r;
}

DRV(cuModuleLoadData, (CUmodule *module, const void *image), (module, image),
    "0x%lx 0x%lx", P(image), OUT(module))
{
	CUresult r = drv_check();

	return r ? r : loaded(module, image_load((struct image **)module, image, IN_MEMORY));
}

/* The log of the compiler: its size is what the program has room for, and then what is in it. */
static void write_log(unsigned count, const CUjit_option *options, void **values)
{
	char *log = NULL;
	size_t room = 0;

	for (unsigned i = 0; i < count; i++)
		if (options[i] == CU_JIT_INFO_LOG_BUFFER)
			log = values[i];
	for (unsigned i = 0; i < count; i++)
		if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES) {
			room = (size_t)values[i] & UINT32_MAX;
			if (log && room) {
				snprintf(log, room, "compiled");
				values[i] = (void *)strlen(log);
			}
		}
}

DRV_QUIET(cuModuleLoadDataEx)(CUmodule *module, const void *image, unsigned count,
			      CUjit_option *options, void **values)
{
	CUresult r = drv_check();

	if (!r)
		write_log(count, options, values);
	return r ? r : loaded(module, image_load((struct image **)module, image, IN_MEMORY));
}

DRV_QUIET(cuModuleLoadFatBinary)(CUmodule *module, const void *image)
{
	CUresult r = drv_check();

	return r ? r : loaded(module, image_load((struct image **)module, image, IN_MEMORY));
}

DRV_QUIET(cuModuleLoad)(CUmodule *module, const char *path)
{
	CUresult r = drv_check();

	return r ? r : loaded(module, image_load_file((struct image **)module, path));
}

DRV_QUIET(cuModuleUnload)(CUmodule module)
{
	return image_unload((struct image *)module);
}

DRV(cuModuleGetFunction, (CUfunction *function, CUmodule module, const char *name),
    (function, module, name), "0x%lx %s 0x%lx", P(module), name ? name : "", OUT(function))
{
	struct CUkern_st *k;
	CUresult r = drv_check();

	if (r)
		return r;
	r = function ? image_kernel(&k, (struct image *)module, name) : CUDA_ERROR_INVALID_VALUE;
	if (!r)
		*function = &k->on[drv_current()->dev];
	return r;
}

DRV_QUIET(cuModuleGetGlobal_v2)(CUdeviceptr *ptr, size_t *size, CUmodule module, const char *name)
{
	return image_variable(ptr, size, (struct image *)module, name);
}

DRV_QUIET(cuModuleGetFunctionCount)(unsigned *count, CUmodule module)
{
	return count ? image_kernels((struct image *)module, NULL, 0, count) : CUDA_ERROR_INVALID_VALUE;
}

DRV_QUIET(cuModuleEnumerateFunctions)(CUfunction *functions, unsigned max, CUmodule module)
{
	CUresult r = drv_check();
	struct CUkern_st *k;
	unsigned count, i;

	if (r)
		return r;
	if (!functions)
		return CUDA_ERROR_INVALID_VALUE;
	r = image_kernels((struct image *)module, (struct CUkern_st **)functions, max, &count);
	for (i = 0; !r && i < max && i < count; i++) {
		k = (struct CUkern_st *)functions[i];
		functions[i] = &k->on[drv_current()->dev];
	}
	return r;
}

DRV(cuLibraryLoadData,
    (CUlibrary *library, const void *code, CUjit_option *jit, void **jit_values, unsigned num_jit,
     CUlibraryOption *options, void **values, unsigned num_options),
    (library, code, jit, jit_values, num_jit, options, values, num_options),
    "0x%lx 0x%lx", P(code), OUT(library))
{
	(void)jit, (void)jit_values, (void)num_jit;
	(void)options, (void)values, (void)num_options;
	return image_load((struct image **)library, code, IN_MEMORY);
}

DRV_QUIET(cuLibraryLoadFromFile)(CUlibrary *library, const char *path, CUjit_option *jit, void **jit_values,
				 unsigned num_jit, CUlibraryOption *options, void **values,
				 unsigned num_options)
{
	(void)jit, (void)jit_values, (void)num_jit;
	(void)options, (void)values, (void)num_options;
	return image_load_file((struct image **)library, path);
}

DRV_QUIET(cuLibraryUnload)(CUlibrary library)
{
	return image_unload((struct image *)library);
}

DRV(cuLibraryGetKernel, (CUkernel *kernel, CUlibrary library, const char *name),
    (kernel, library, name), "0x%lx %s 0x%lx", P(library), name ? name : "", OUT(kernel))
{
	return image_kernel(kernel, (struct image *)library, name);
}

DRV_QUIET(cuLibraryGetModule)(CUmodule *module, CUlibrary library)
{
	CUresult r = drv_check();

	if (r)
		return r;
	if (!module || !library)
		return module ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	*module = (CUmodule)library;
	return CUDA_SUCCESS;
}

DRV_QUIET(cuLibraryGetGlobal)(CUdeviceptr *ptr, size_t *size, CUlibrary library, const char *name)
{
	return image_variable(ptr, size, (struct image *)library, name);
}

/* Without SIM_KERNELS no variable is known to be managed. */
DRV_QUIET(cuLibraryGetManaged)(CUdeviceptr *ptr, size_t *size, CUlibrary library, const char *name)
{
	return drv_kernels ? image_variable(ptr, size, (struct image *)library, name) : CUDA_ERROR_NOT_FOUND;
}

DRV_QUIET(cuLibraryGetKernelCount)(unsigned *count, CUlibrary library)
{
	return count ? image_kernels((struct image *)library, NULL, 0, count) : CUDA_ERROR_INVALID_VALUE;
}

DRV_QUIET(cuLibraryEnumerateKernels)(CUkernel *kernels, unsigned max, CUlibrary library)
{
	unsigned count;

	return kernels ? image_kernels((struct image *)library, kernels, max, &count) : CUDA_ERROR_INVALID_VALUE;
}

DRV(cuKernelGetFunction, (CUfunction *function, CUkernel kernel), (function, kernel),
    "0x%lx 0x%lx", P(kernel), OUT(function))
{
	CUresult r = drv_check();

	if (r)
		return r;
	if (!function || !kernel)
		return CUDA_ERROR_INVALID_HANDLE;
	*function = &kernel->on[drv_current()->dev];
	return CUDA_SUCCESS;
}
