/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Sums: by shared memory, shuffles within warps, and atomics between blocks. */
#include "gpu.h"

__global__ void reduce_shared(const int *in, int n, int *sum, unsigned *max, unsigned long long *xor_all)
{
	__shared__ int partial[256];
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	partial[threadIdx.x] = i < n ? in[i] : 0;
	__syncthreads();
	for (int step = blockDim.x / 2; step; step /= 2) {
		if (threadIdx.x < step)
			partial[threadIdx.x] += partial[threadIdx.x + step];
		__syncthreads();
	}
	if (!threadIdx.x)
		atomicAdd(sum, partial[0]);
	if (i < n) {
		atomicMax(max, (unsigned)in[i]);
		atomicXor(xor_all, (unsigned long long)in[i] << 20);
	}
}

__global__ void reduce_shuffle(const float *in, int n, float *sum, int *positive)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float value = i < n ? in[i] : 0;
	unsigned above = __ballot_sync(~0u, value > 0);

	for (int step = 16; step; step /= 2)
		value += __shfl_down_sync(~0u, value, step);
	if (threadIdx.x % 32 == 0) {
		atomicAdd(sum, value);
		atomicAdd(positive, __popc(above));
	}
}

void gpu_reduce(struct results *r)
{
	enum { N = 5003 };
	static int in[N];
	static float floats[N];
	int sum = 0, got_sum, positive = 0, got_positive;
	unsigned max = 0, got_max;
	unsigned long long x = 0, got_x;
	float fsum = 0, got_fsum;

	for (int i = 0; i < N; i++) {
		in[i] = i * 7919 % 10007;
		floats[i] = i % 13 - 6;		/* sums are exact in any order */
		sum += in[i];
		max = (unsigned)in[i] > max ? in[i] : max;
		x ^= (unsigned long long)in[i] << 20;
		fsum += floats[i];
		positive += floats[i] > 0;
	}
	int *din = device(in, N), *dsum = device<int>(NULL, 1), *dpositive = device<int>(NULL, 1);
	unsigned *dmax = device<unsigned>(NULL, 1);
	unsigned long long *dx = device<unsigned long long>(NULL, 1);
	float *dfloats = device(floats, N), *dfsum = device<float>(NULL, 1);
	reduce_shared<<<(N + 255) / 256, 256>>>(din, N, dsum, dmax, dx);
	reduce_shuffle<<<(N + 127) / 128, 128>>>(dfloats, N, dfsum, dpositive);
	TRY(cudaDeviceSynchronize());
	fetch(&got_sum, dsum, 1);
	fetch(&got_max, dmax, 1);
	fetch(&got_x, dx, 1);
	fetch(&got_fsum, dfsum, 1);
	fetch(&got_positive, dpositive, 1);
	TRY(cudaFree(din));
	TRY(cudaFree(dfloats));
	r->add(got_sum == sum);
	r->add(got_max == max);
	r->add(got_x == x);
	r->add(got_fsum == fsum);
	r->add(got_positive == positive);
}
