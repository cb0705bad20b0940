/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* leaky REQUESTS: each request has a scratch buffer of 1 MiB, which it frees, and a
 * result of 64 KiB in a cache, which nothing ever empties.
 */
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define KEPT __attribute__((noinline))

static void *volatile results[1 << 16];

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
	results[request % (1 << 16)] = device_memory(64 << 10);
}

KEPT void handle_request(int request)
{
	void *scratch = device_memory(1 << 20);

	cache_result(request);
	cudaFree(scratch);
}

int main(int argc, char **argv)
{
	int requests = argc > 1 ? atoi(argv[1]) : 7;

	for (int i = 0; i < requests; i++)
		handle_request(i);
	return 0;
}
