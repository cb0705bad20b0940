/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A library of the program's own for LD_PRELOAD that wraps a CUDA function: says at the end how often it was called. */
#include <dlfcn.h>
#include <stdio.h>

#include "cuda_api.h"

static int calls;

#undef cudaMalloc
cudaError_t cudaMalloc(void **p, size_t size)
{
	static cudaError_t (*real)(void **, size_t);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "cudaMalloc");
	__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
	return real(p, size);
}

static void __attribute__((destructor)) at_end(void)
{
	fprintf(stderr, "own preloaded library: %d calls\n", calls);
}
