/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* inject: the ways by which a program gets at a function. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inject.h"
#include "cuda_api.h"

typedef cudaError_t allocate_fn(void **p, size_t size);
typedef CUresult allocate_driver_fn(CUdeviceptr *p, size_t size);

/* Relocated with the program, and read-only then.  Another function: calls of one whose address is taken do not go
 * through the PLT. */
static allocate_fn *const constant[] = { (allocate_fn *)cudaMallocHost };
static allocate_fn *variable = (allocate_fn *)cudaMallocHost;

extern void cudaNoSuchFunction(void) __attribute__((weak));

static int times(allocate_fn *allocate, int n)
{
	void *p;

	inject_must(allocate != NULL, "no such function");
	for (; n > 0; n--)
		inject_must(allocate(&p, 64) == cudaSuccess, "an allocation failed");
	return 0;
}

static int times_driver(allocate_driver_fn *allocate, int n)
{
	CUdeviceptr p;

	inject_must(allocate != NULL, "no such function");
	for (; n > 0; n--)
		inject_must(allocate(&p, 64) == CUDA_SUCCESS, "cuMemAlloc failed");
	return 0;
}

int part_plt(int argc, char **argv)
{
	inject_allocate(inject_count(argc, argv));
	return 0;
}

int part_data(int argc, char **argv)
{
	int n = inject_count(argc, argv);
	allocate_fn *volatile *at = &variable;

	times(constant[0], n / 2);
	return times(*at, n - n / 2);
}

int part_dlsym(int argc, char **argv)
{
	void *handle = dlopen("libcudart.so.13", RTLD_NOW);
	int n = inject_count(argc, argv);

	inject_must(handle != NULL, "no runtime");
	times((allocate_fn *)dlsym(handle, "cudaMalloc"), n / 2);
	return times((allocate_fn *)dlsym(RTLD_DEFAULT, "cudaMalloc"), n - n / 2);
}

int part_dlvsym(int argc, char **argv)
{
	void *handle = dlopen("libcudart.so.13", RTLD_NOW);

	inject_must(handle != NULL, "no runtime");
	return times((allocate_fn *)dlvsym(handle, "cudaMalloc", "libcudart.so.13"), inject_count(argc, argv));
}

int part_dlmopen(int argc, char **argv)
{
	void *handle = dlmopen(LM_ID_NEWLM, "libcudart.so.13", RTLD_NOW);

	inject_must(handle != NULL, "no runtime in a new namespace");
	return times((allocate_fn *)dlsym(handle, "cudaMalloc"), inject_count(argc, argv));
}

int part_proc(int argc, char **argv)
{
	CUresult (*get)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *) = NULL;
	void *libcuda = dlopen("libcuda.so.1", RTLD_NOW), *allocate = NULL;

	inject_must(libcuda != NULL, "no driver");
	cudaFree(NULL);		/* makes a context */
	*(void **)&get = dlsym(libcuda, "cuGetProcAddress_v2");
	inject_must(get && get("cuMemAlloc", &allocate, 12000, 0, NULL) == CUDA_SUCCESS, "cuGetProcAddress failed");
	inject_must(get("cuNoSuchFunction", (void **)&get, 12000, 0, NULL) != CUDA_SUCCESS, "cuGetProcAddress found too much");
	return times_driver((allocate_driver_fn *)allocate, inject_count(argc, argv));
}

int part_entry(int argc, char **argv)
{
	cudaError_t (*get)(const char *, void **, unsigned long long, int *);
	void *allocate = NULL;
	int found;

	cudaFree(NULL);
	/* the headers call it deprecated */
	*(void **)&get = dlsym(RTLD_DEFAULT, "cudaGetDriverEntryPoint");
	inject_must(get && get("cuMemAlloc", &allocate, 0, &found) == cudaSuccess && !found, "cudaGetDriverEntryPoint failed");
	return times_driver((allocate_driver_fn *)allocate, inject_count(argc, argv));
}

int part_pointers(int argc, char **argv)
{
	void *handle = dlopen("libcudart.so.13", RTLD_NOW);
	allocate_fn *volatile *at = &variable;

	(void)argc, (void)argv;
	inject_allocate(1);
	puts(constant[0] == *at && constant[0] == (allocate_fn *)cudaMallocHost ? "references: one" : "references: several");
	puts((void *)constant[0] == dlsym(RTLD_DEFAULT, "cudaMallocHost") ? "dlsym: the same" : "dlsym: another");
	puts(dlsym(handle, "cudaMallocHost") == dlvsym(handle, "cudaMallocHost", "libcudart.so.13") ?
	     "dlvsym: the same" : "dlvsym: another");
	return 0;
}

int part_weak(int argc, char **argv)
{
	(void)argc, (void)argv;
	inject_allocate(1);
	puts(cudaNoSuchFunction ? "there" : "NULL");
	puts(dlsym(RTLD_DEFAULT, "cudaNoSuchFunction") ? "there" : "NULL");
	return 0;
}

static void *plugin(const char *path, int flags, void (**work)(int))
{
	void *handle = path ? dlopen(path, flags) : NULL;

	inject_must(handle != NULL, "the library cannot be loaded");
	*(void **)work = dlsym(handle, "plugin_allocate");
	inject_must(*work != NULL, "the library is another one");
	return handle;
}

int part_plugin(int argc, char **argv)
{
	const char *how = argc > 3 ? argv[3] : "now";
	int flags = !strcmp(how, "lazy") ? RTLD_LAZY | RTLD_GLOBAL : !strcmp(how, "local") ? RTLD_LAZY | RTLD_LOCAL :
		!strcmp(how, "deep") ? RTLD_NOW | RTLD_DEEPBIND : RTLD_NOW;
	void (*work)(int);

	plugin(argc > 2 ? argv[2] : NULL, flags, &work);
	work(inject_count(argc, argv));
	return 0;
}

int part_reopen(int argc, char **argv)
{
	int n = inject_count(argc, argv);
	void (*work)(int);
	void *handle;

	for (; n > 0; n--) {
		handle = plugin(getenv("INJECT_PLUGIN"), RTLD_LAZY, &work);
		work(3);
		dlclose(handle);
	}
	return 0;
}
