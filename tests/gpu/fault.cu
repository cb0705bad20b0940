/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Kernels with faults, and what the calls after them return. */
#include <cassert>
#include <cstdint>
#include <cstring>

#include "gpu.h"

__global__ void store(int *p, size_t offset)
{
	p[offset + threadIdx.x] = 1;
}

__global__ void misaligned(char *p)
{
	*(int *)(p + 1) = 7;
}

__global__ void give_up(void)
{
	__trap();
}

__global__ void insist(int n)
{
	assert(n == 1);
}

__global__ void forever(volatile int *p)
{
	while (!*p)
		;
}

static void say(const char *call, cudaError_t err)
{
	printf("%s: %s\n", call, cudaGetErrorName(err));
}

void gpu_fault(const char *kind)
{
	int *p = device<int>(NULL, 64), *other;

	if (!strcmp(kind, "null"))
		store<<<1, 7>>>(NULL, 0);
	else if (!strcmp(kind, "near"))		/* in the same page, as on a GPU: no fault */
		store<<<1, 7>>>(p, 4096);
	else if (!strcmp(kind, "far"))
		store<<<1, 7>>>(p, (size_t)1 << 34);
	else if (!strcmp(kind, "host"))
		store<<<1, 7>>>((int *)((uintptr_t)kind & ~(uintptr_t)3), 0);
	else if (!strcmp(kind, "misaligned"))
		misaligned<<<1, 1>>>((char *)p);
	else if (!strcmp(kind, "trap"))
		give_up<<<2, 32>>>();
	else if (!strcmp(kind, "assert"))
		insist<<<1, 3>>>(2);
	else if (!strcmp(kind, "loop"))
		forever<<<1, 1>>>(p);
	say("launch", cudaGetLastError());
	say("cudaDeviceSynchronize", cudaDeviceSynchronize());
	say("cudaMalloc", cudaMalloc(&other, 64));
	say("cudaMemset", cudaMemset(p, 0, 64));
	store<<<1, 7>>>(p, 0);
	say("second launch", cudaGetLastError());
	say("cudaFree", cudaFree(p));
	say("cudaDeviceReset", cudaDeviceReset());
	cudaGetLastError();
	p = device<int>(NULL, 64);
	store<<<1, 7>>>(p, 0);
	say("launch after reset", cudaGetLastError());
	say("cudaDeviceSynchronize", cudaDeviceSynchronize());
}
