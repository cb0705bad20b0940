/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* leaky REQUESTS [check]: each request has a scratch buffer of 1 MiB, which it frees, and a
 * result of 64 KiB in a cache, which nothing ever empties.
 * check: compares the results with the CPU's, and prints "leaky: N of N results right".
 */
#include <cstdio>
#include <cstdlib>

#ifdef __CUDACC__
#include <cuda_runtime.h>
#else
#include "../../examples/no_nvcc.h"
#endif

#define KEPT __attribute__((noinline))

enum { WORDS = (64 << 10) / sizeof(int), CACHE = 1 << 16 };

static void *volatile results[CACHE];

extern "C" __global__ void score(const int *scratch, int *result, int request)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	result[i] = scratch[i * 2] + i % (request + 7) * i;
}

#ifndef __CUDACC__
/* what nvcc makes of it */
__asm__(".pushsection .rodata\nleaky_ptx: .incbin \"" LEAKY_PTX "\"\n.byte 0\n.popsection\n");
extern "C" const char leaky_ptx[] __attribute__((visibility("hidden")));
static const kernel kernels[] = { { (const void *)score, "score" } };
static const registration registered(kernels, 1, leaky_ptx);
#endif

KEPT void *device_memory(size_t size)
{
	void *p = nullptr;
	cudaError_t err = cudaMalloc(&p, size);

	if (err != cudaSuccess) {
		fprintf(stderr, "leaky: %s\n", cudaGetErrorString(err));
		exit(1);
	}
	return p;
}

KEPT void cache_result(int request)
{
	results[request % CACHE] = device_memory(64 << 10);
}

KEPT void handle_request(int request)
{
	void *scratch = device_memory(1 << 20), *result;
	void *args[] = { &scratch, &result, &request };

	cache_result(request);
	result = results[request % CACHE];
	cudaMemset(scratch, request % 128, 1 << 20);
	cudaLaunchKernel((const void *)score, dim3(WORDS / 256, 1, 1), dim3(256, 1, 1), args, 0, NULL);
	cudaFree(scratch);
}

static bool is_right(int request)
{
	static int got[WORDS];
	bool right = cudaMemcpy(got, results[request], sizeof(got), cudaMemcpyDeviceToHost) == cudaSuccess;

	for (int i = 0; i < WORDS; i++)
		right &= got[i] == request % 128 * 0x01010101 + i % (request + 7) * i;
	return right;
}

int main(int argc, char **argv)
{
	int requests = argc > 1 ? atoi(argv[1]) : 7, kept = requests < CACHE ? requests : CACHE, right = 0;

	for (int i = 0; i < requests; i++)
		handle_request(i);
	if (argc < 3)
		return 0;
	for (int i = requests - kept; i < requests; i++)
		right += is_right(i);
	printf("leaky: %d of %d results right\n", right, kept);
	return right != kept;
}
