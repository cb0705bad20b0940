/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Atomics in shared memory, then in global memory; compare and swap. */
#include "gpu.h"

__global__ void histogram(const unsigned char *in, int n, unsigned *bins)
{
	__shared__ unsigned own[256];

	own[threadIdx.x] = 0;
	__syncthreads();
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		atomicAdd(&own[in[i]], 1);
	__syncthreads();
	atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

/* A product by compare and swap, modulo a prime: any order gives the same. */
__global__ void product(const unsigned char *in, int n, unsigned *result)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned seen, old;

	if (i >= n)
		return;
	for (old = *result;; old = seen) {
		seen = atomicCAS(result, old, old * (in[i] + 1) % 65521);
		if (seen == old)
			break;
	}
}

void gpu_histogram(struct results *r)
{
	enum { N = 20011, M = 499 };
	static unsigned char in[N];
	static unsigned bins[256], got[256];
	unsigned one = 1, want = 1, result;

	for (int i = 0; i < N; i++) {
		in[i] = i * 7 + i / 256 * i;
		bins[in[i]]++;
	}
	for (int i = 0; i < M; i++)
		want = want * (in[i] + 1) % 65521;
	unsigned char *din = device(in, N);
	unsigned *dbins = device<unsigned>(NULL, 256), *dresult = device(&one, 1);
	histogram<<<7, 256>>>(din, N, dbins);
	product<<<(M + 63) / 64, 64>>>(din, M, dresult);
	fetch(got, dbins, 256);
	fetch(&result, dresult, 1);
	TRY(cudaFree(din));
	for (int i = 0; i < 256; i++)
		r->add(got[i] == bins[i]);
	r->add(result == want);
}
