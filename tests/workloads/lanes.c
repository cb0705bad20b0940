/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* lanes WORD...: launches kernels from PTX (lanes_ptx.h) through the driver, and checks what they did.
 *   copy LAUNCHES BLOCKS THREADS STRIDE   reads every STRIDE-th word
 *   over LAUNCHES BLOCKS THREADS MISSING  copy with stride 1 from an allocation that is MISSING words too short
 *   spin LAUNCHES BLOCKS THREADS SLOW     block 0 loops SLOW times, the others 7 times
 *   leave LAUNCHES BLOCKS THREADS         threads leave at three places
 *   own LAUNCHES BLOCKS THREADS           threads use the module's memory and shared memory
 *   far THREADS                           copy with a stride of 512 MiB: a fault, which ends the program */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda_api.h"
#include "lanes_ptx.h"

static void must(CUresult err, const char *what)
{
	if (err == CUDA_SUCCESS)
		return;
	fprintf(stderr, "lanes: %s: error %d\n", what, (int)err);
	exit(1);
}
#define MUST(call) must(call, #call)

static unsigned number(const char *text)
{
	if (text)
		return strtoul(text, NULL, 0);
	fputs("lanes: a number is missing\n", stderr);
	exit(2);
}

static CUfunction function(CUmodule module, const char *name)
{
	CUfunction f;

	MUST(cuModuleGetFunction(&f, module, name));
	return f;
}

static void launch(CUfunction f, char **a, void **params)
{
	for (unsigned left = number(a[0]); left; left--)
		MUST(cuLaunchKernel(f, number(a[1]), 1, 1, number(a[2]), 1, 1, 0, NULL, params, NULL));
	MUST(cuCtxSynchronize());
}

static void check(const char *word, unsigned long long is, unsigned long long wanted)
{
	if (is == wanted)
		return;
	fprintf(stderr, "lanes: %s: %llu, not %llu\n", word, is, wanted);
	exit(1);
}

static void copy(CUmodule module, char **a, unsigned stride, unsigned missing)
{
	size_t n = (size_t)number(a[1]) * number(a[2]), from = n * stride - missing;
	unsigned *host = calloc(n * stride, sizeof(*host));
	unsigned long long sum = 0, wanted = 0;
	CUdeviceptr src, dst;

	MUST(cuMemAlloc_v2(&src, from * sizeof(*host)));
	MUST(cuMemAlloc_v2(&dst, n * sizeof(*host)));
	for (size_t i = 0; i < n * stride; i++)
		host[i] = 3 * i + 1;
	MUST(cuMemcpyHtoD_v2(src, host, from * sizeof(*host)));
	launch(function(module, "copy"), a, (void *[]){ &src, &dst, &stride });
	MUST(cuMemcpyDtoH_v2(host, dst, n * sizeof(*host)));
	for (size_t i = 0; i < n - missing; i++) {
		sum += host[i];
		wanted += 3 * i * stride + 1;
	}
	check("copy", sum, wanted);
	MUST(cuMemFree_v2(src));
	MUST(cuMemFree_v2(dst));
	free(host);
}

static int far(CUmodule module, unsigned threads)
{
	unsigned stride = 1 << 27;
	CUdeviceptr src, dst;

	MUST(cuMemAlloc_v2(&src, sizeof(stride)));
	MUST(cuMemAlloc_v2(&dst, threads * sizeof(stride)));
	MUST(cuLaunchKernel(function(module, "copy"), 1, 1, 1, threads, 1, 1, 0, NULL, (void *[]){ &src, &dst, &stride }, NULL));
	return cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS;
}

/* Each thread adds 1 to a word. */
static void count(CUmodule module, const char *kernel, char **a, unsigned slow)
{
	unsigned sum = 0;
	CUdeviceptr dst;

	MUST(cuMemAlloc_v2(&dst, sizeof(sum)));
	MUST(cuMemcpyHtoD_v2(dst, &sum, sizeof(sum)));
	launch(function(module, kernel), a, (void *[]){ &dst, &slow });
	MUST(cuMemcpyDtoH_v2(&sum, dst, sizeof(sum)));
	check(kernel, sum, (unsigned long long)number(a[0]) * number(a[1]) * number(a[2]));
	MUST(cuMemFree_v2(dst));
}

int main(int argc, char **argv)
{
	CUcontext context;
	CUmodule module;
	int at = 1;

	MUST(cuInit(0));
	MUST(cuDevicePrimaryCtxRetain(&context, 0));
	MUST(cuCtxSetCurrent(context));
	MUST(cuModuleLoadData(&module, lanes_ptx));
	while (at < argc) {
		const char *word = argv[at++];
		char *a[5] = { 0 };

		for (int i = 0; i < 4 && at + i < argc; i++)
			a[i] = argv[at + i];
		if (!strcmp(word, "copy")) {
			copy(module, a, number(a[3]), 0);
			at += 4;
		} else if (!strcmp(word, "over")) {
			copy(module, a, 1, number(a[3]));
			at += 4;
		} else if (!strcmp(word, "spin")) {
			count(module, "spin", a, number(a[3]));
			at += 4;
		} else if (!strcmp(word, "leave") || !strcmp(word, "own")) {
			count(module, word, a, 0);
			at += 3;
		} else if (!strcmp(word, "far")) {
			puts(far(module, number(a[0])) ? "ok" : "no fault");
			return 0;
		} else {
			fprintf(stderr, "lanes: unknown word '%s'\n", word);
			return 2;
		}
	}
	puts("ok");
	return 0;
}
