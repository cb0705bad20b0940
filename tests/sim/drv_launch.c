/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: modules, libraries, kernels, launches. An image is never looked into:
 * it has every function asked for, except those whose name starts with "missing".
 */
#include <stdlib.h>
#include <string.h>

#include "drv.h"

/* A kernel handle, and the functions it is on each device. Functions of a module
 * are the first of these.
 */
struct CUfunc_st {
	struct CUkern_st *kernel;
};

struct CUkern_st {
	struct CUfunc_st on[MAX_DEVICES];
	struct CUkern_st *next;
	char name[];
};

struct variable {
	struct variable *next;
	struct block *memory;
	char name[];
};

struct image {
	struct CUkern_st *kernels;
	struct variable *variables;
};

/* As NVIDIA's, unload and load make use of an address again: calloc() may not. */
static void *zeroed(size_t size)
{
	void *p = malloc(size);

	return p ? memset(p, 0, size) : NULL;
}

static CUresult load(struct image **image, const void *data)
{
	if (!image || !data)
		return CUDA_ERROR_INVALID_VALUE;
	*image = zeroed(sizeof(**image));
	return *image ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Lookups last a module's life. */
static CUresult find(struct CUkern_st **kernel, struct image *image, const char *name)
{
	struct CUkern_st *k;
	int i;

	if (!kernel || !image || !name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!*name || !strncmp(name, "missing", 7))
		return CUDA_ERROR_NOT_FOUND;
	pthread_mutex_lock(&drv_lock);
	for (k = image->kernels; k && strcmp(k->name, name); k = k->next)
		;
	if (!k) {
		k = zeroed(sizeof(*k) + strlen(name) + 1);
		if (k) {
			strcpy(k->name, name);
			for (i = 0; i < MAX_DEVICES; i++)
				k->on[i].kernel = k;
			k->next = image->kernels;
			image->kernels = k;
		}
	}
	pthread_mutex_unlock(&drv_lock);
	*kernel = k;
	return k ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Variables' sizes are in the image: each gets more than any program has. */
#define VARIABLE_ROOM (64UL << 20)

static CUresult find_variable(CUdeviceptr *ptr, size_t *size, struct image *image,
			      const char *name)
{
	struct variable *v;

	if (!image || !name)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&drv_lock);
	for (v = image->variables; v && strcmp(v->name, name); v = v->next)
		;
	if (!v) {
		v = calloc(1, sizeof(*v) + strlen(name) + 1);
		if (v) {
			strcpy(v->name, name);
			v->memory = block_new(K_RANGE, VMM_SPACE, -1, VARIABLE_ROOM);
			v->next = image->variables;
			image->variables = v;
		}
	}
	if (v && v->memory && ptr)
		*ptr = v->memory->addr;
	if (v && v->memory && size)
		*size = v->memory->size;
	pthread_mutex_unlock(&drv_lock);
	return v && v->memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

DRV(cuModuleLoadData, (CUmodule *module, const void *image), (module, image),
    "0x%lx 0x%lx", P(image), OUT(module))
{
	CUresult r = drv_check();

	return r ? r : load((struct image **)module, image);
}

DRV_QUIET(cuModuleLoadDataEx)(CUmodule *module, const void *image, unsigned count,
			      CUjit_option *options, void **values)
{
	CUresult r = drv_check();

	(void)count, (void)options, (void)values;
	return r ? r : load((struct image **)module, image);
}

static CUresult unload(struct image *image)
{
	struct CUkern_st *k;
	struct variable *v;

	if (!image)
		return CUDA_ERROR_INVALID_VALUE;
	while ((k = image->kernels)) {
		image->kernels = k->next;
		free(k);
	}
	while ((v = image->variables)) {
		image->variables = v->next;
		free(v);	/* the block remains */
	}
	free(image);
	return CUDA_SUCCESS;
}

DRV_QUIET(cuModuleUnload)(CUmodule module)
{
	return unload((struct image *)module);
}

DRV(cuModuleGetFunction, (CUfunction *function, CUmodule module, const char *name),
    (function, module, name), "0x%lx %s 0x%lx", P(module), name ? name : "", OUT(function))
{
	struct CUkern_st *k;
	CUresult r = drv_check();

	if (r)
		return r;
	r = function ? find(&k, (struct image *)module, name) : CUDA_ERROR_INVALID_VALUE;
	if (!r)
		*function = &k->on[drv_current()->dev];
	return r;
}

DRV_QUIET(cuModuleGetGlobal_v2)(CUdeviceptr *ptr, size_t *size, CUmodule module, const char *name)
{
	return find_variable(ptr, size, (struct image *)module, name);
}

DRV(cuLibraryLoadData,
    (CUlibrary *library, const void *code, CUjit_option *jit, void **jit_values, unsigned num_jit,
     CUlibraryOption *options, void **values, unsigned num_options),
    (library, code, jit, jit_values, num_jit, options, values, num_options),
    "0x%lx 0x%lx", P(code), OUT(library))
{
	(void)jit, (void)jit_values, (void)num_jit;
	(void)options, (void)values, (void)num_options;
	return load((struct image **)library, code);
}

DRV_QUIET(cuLibraryUnload)(CUlibrary library)
{
	return unload((struct image *)library);
}

DRV(cuLibraryGetKernel, (CUkernel *kernel, CUlibrary library, const char *name),
    (kernel, library, name), "0x%lx %s 0x%lx", P(library), name ? name : "", OUT(kernel))
{
	return find(kernel, (struct image *)library, name);
}

DRV_QUIET(cuLibraryGetGlobal)(CUdeviceptr *ptr, size_t *size, CUlibrary library, const char *name)
{
	return find_variable(ptr, size, (struct image *)library, name);
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

DRV_QUIET(cuFuncGetName)(const char **name, CUfunction function)
{
	if (!name || !function)
		return CUDA_ERROR_INVALID_VALUE;
	*name = function->kernel->name;
	return CUDA_SUCCESS;
}

DRV_QUIET(cuFuncSetAttribute)(CUfunction function, CUfunction_attribute attribute, int value)
{
	(void)attribute, (void)value;
	return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* Kernels do nothing. */
static CUresult launch(const void *function, unsigned gx, unsigned gy, unsigned gz,
		       unsigned bx, unsigned by, unsigned bz, CUstream stream)
{
	CUresult r = drv_check();

	if (r)
		return r;
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!gx || !gy || !gz || !bx || !by || !bz || (size_t)bx * by * bz > 1024 || gy > 65535 ||
	    gz > 65535)
		return CUDA_ERROR_INVALID_VALUE;
	drv_capture(stream);
	return CUDA_SUCCESS;
}

#define TRACE_LAUNCH "0x%lx %u %u %u %u %u %u", P(f), gx, gy, gz, bx, by, bz

DRV_PTSZ(cuLaunchKernel,
	 (CUfunction f, unsigned gx, unsigned gy, unsigned gz,
	  unsigned bx, unsigned by, unsigned bz,
	  unsigned shared, CUstream stream, void **params, void **extra),
	 (f, gx, gy, gz, bx, by, bz, shared, stream, params, extra), TRACE_LAUNCH)
{
	(void)shared, (void)params, (void)extra;
	return launch(f, gx, gy, gz, bx, by, bz, stream);
}

DRV_PTSZ(cuLaunchCooperativeKernel,
	 (CUfunction f, unsigned gx, unsigned gy, unsigned gz,
	  unsigned bx, unsigned by, unsigned bz,
	  unsigned shared, CUstream stream, void **params),
	 (f, gx, gy, gz, bx, by, bz, shared, stream, params), TRACE_LAUNCH)
{
	(void)shared, (void)params;
	return launch(f, gx, gy, gz, bx, by, bz, stream);
}

DRV_PTSZ(cuLaunchKernelEx, (const CUlaunchConfig *c, CUfunction f, void **params, void **extra),
	 (c, f, params, extra), "0x%lx %u %u %u %u %u %u", P(f),
	 c ? c->gridDimX : 0, c ? c->gridDimY : 0, c ? c->gridDimZ : 0,
	 c ? c->blockDimX : 0, c ? c->blockDimY : 0, c ? c->blockDimZ : 0)
{
	(void)params, (void)extra;
	if (!c)
		return CUDA_ERROR_INVALID_VALUE;
	return launch(f, c->gridDimX, c->gridDimY, c->gridDimZ,
		      c->blockDimX, c->blockDimY, c->blockDimZ, c->hStream);
}
