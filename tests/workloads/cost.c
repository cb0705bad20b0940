/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* cost: for each line on standard input, "runtime" or "driver", allocates and frees 256
 * bytes again and again for 200 ms and prints the nanoseconds that one call took.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cuda_api.h"

static __typeof__(&cuMemAlloc_v2) drv_alloc;
static __typeof__(&cuMemFree_v2) drv_free;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static int pair(int driver)
{
	CUdeviceptr p;
	void *q;

	if (driver)
		return drv_alloc(&p, 256) || drv_free(p);
	return cudaMalloc(&q, 256) || cudaFree(q);
}

int main(void)
{
	double start, spent;
	unsigned long calls;
	char line[64];
	void *lib, *kept;

	/* what is kept keeps the page that the others are cut from */
	if (cudaMalloc(&kept, 256) || !(lib = dlopen("libcuda.so.1", RTLD_NOW)) ||
	    !(*(void **)&drv_alloc = dlsym(lib, "cuMemAlloc_v2")) ||
	    !(*(void **)&drv_free = dlsym(lib, "cuMemFree_v2"))) {
		fprintf(stderr, "cost: no CUDA\n");
		return 1;
	}
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		calls = 0;
		start = now();
		do {
			for (int i = 0; i < 100; i++)
				if (pair(*line == 'd'))
					return 1;
			calls += 200;
			spent = now() - start;
		} while (spent < 2e8);
		printf("%.0f\n", spent / (double)calls);
		fflush(stdout);
	}
	return 0;
}
