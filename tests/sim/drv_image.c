/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: what images have. Without SIM_KERNELS an image is never looked into: it
 * has every function asked for, except those whose name starts with "missing".
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drv_module.h"

struct variable {
	struct variable *next;
	struct block *memory;
	char name[];
};

/* As NVIDIA's, unload and load make use of an address again: calloc() may not. */
static void *zeroed(size_t size)
{
	void *p = malloc(size);

	return p ? memset(p, 0, size) : NULL;
}

CUresult image_load(struct image **image, const void *data, size_t size)
{
	struct code *code = NULL;
	CUresult r;

	if (!image || !data)
		return CUDA_ERROR_INVALID_VALUE;
	r = drv_kernels ? code_get(&code, data, size) : CUDA_SUCCESS;
	if (r)
		return r;
	*image = zeroed(sizeof(**image));
	if (*image)
		(*image)->code = code;
	else if (code)
		code_put(code);
	return *image ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult image_read(char **data, size_t *size, const char *path)
{
	enum { FILE_NOT_FOUND = 301 };
	ssize_t got;
	off_t end;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return (CUresult)FILE_NOT_FOUND;
	*size = 0;
	end = lseek(fd, 0, SEEK_END);	/* glibc 2.31 (Debian 11), which tests link it with, has no fstat() */
	*data = end >= 0 && !lseek(fd, 0, SEEK_SET) ? malloc((size_t)end + 1) : NULL;
	if (*data) {
		while (*size < (size_t)end && (got = read(fd, *data + *size, (size_t)end - *size)) > 0)
			*size += (size_t)got;
		(*data)[*size] = '\0';
	}
	close(fd);
	return *data ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult image_load_file(struct image **image, const char *path)
{
	char *data;
	size_t size;
	CUresult r;

	if (!path)
		return CUDA_ERROR_INVALID_VALUE;
	r = image_read(&data, &size, path);
	if (r)
		return r;
	r = image_load(image, data, size);
	free(data);
	return r;
}

CUresult image_unload(struct image *image)
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
	if (image->code)
		code_put(image->code);
	free(image);
	return CUDA_SUCCESS;
}

/* With drv_lock held. */
static struct CUkern_st *kernel_new(struct image *image, const char *name)
{
	struct CUkern_st *k = zeroed(sizeof(*k) + strlen(name) + 1);
	int i;

	if (!k)
		return NULL;
	strcpy(k->name, name);
	for (i = 0; i < MAX_DEVICES; i++)
		k->on[i].kernel = k;
	k->image = image;
	k->next = image->kernels;
	return image->kernels = k;
}

static CUresult has(struct image *image, const char *name)
{
	struct interp_module *m;
	CUresult r;

	if (!image->code)
		return *name && strncmp(name, "missing", 7) ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
	r = code_any(image->code, &m);
	return r ? r : drv_kernels->kernel(m, name) ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* Lookups last a module's life. */
CUresult image_kernel(struct CUkern_st **kernel, struct image *image, const char *name)
{
	struct CUkern_st *k;
	CUresult r;

	if (!kernel || !image || !name)
		return CUDA_ERROR_INVALID_VALUE;
	r = has(image, name);
	if (r)
		return r;
	pthread_mutex_lock(&drv_lock);
	for (k = image->kernels; k && strcmp(k->name, name); k = k->next)
		;
	if (!k)
		k = kernel_new(image, name);
	pthread_mutex_unlock(&drv_lock);
	*kernel = k;
	return k ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult image_kernels(struct image *image, struct CUkern_st **kernels, unsigned max, unsigned *count)
{
	struct interp_info info;
	struct interp_kernel *k;
	struct interp_module *m;
	CUresult r;

	if (!image)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!image->code)
		return CUDA_ERROR_NOT_SUPPORTED;
	r = code_any(image->code, &m);
	for (*count = 0; !r && (k = drv_kernels->kernel_at(m, *count)); ++*count) {
		drv_kernels->info(k, &info);
		if (kernels && *count < max)
			r = image_kernel(&kernels[*count], image, info.name);
	}
	return r;
}

/* Variables' sizes are in the image: each gets more than any program has. */
#define VARIABLE_ROOM (64UL << 20)

static CUresult made_up_variable(CUdeviceptr *ptr, size_t *size, struct image *image, const char *name)
{
	struct variable *v;

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

CUresult image_variable(CUdeviceptr *ptr, size_t *size, struct image *image, const char *name)
{
	struct interp_module *m;
	uint64_t addr;
	size_t bytes;
	CUresult r;

	if (!image || !name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!image->code)
		return made_up_variable(ptr, size, image, name);
	r = code_any(image->code, &m);
	if (r)
		return r;
	addr = drv_kernels->variable(m, name, &bytes);
	if (!addr)
		return CUDA_ERROR_NOT_FOUND;
	if (ptr)
		*ptr = addr;
	if (size)
		*size = bytes;
	return CUDA_SUCCESS;
}

CUresult kernel_code(struct CUkern_st *kernel, struct interp_kernel **code)
{
	struct interp_module *m;
	CUresult r = code_any(kernel->image->code, &m);

	if (r)
		return r;
	*code = drv_kernels->kernel(m, kernel->name);
	return *code ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
