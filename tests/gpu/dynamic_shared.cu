/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Shared memory whose size the launch says, beyond 48 KiB too. */
#include "gpu.h"

__global__ void reverse(const int *in, int *out, int n)
{
	extern __shared__ int words[];

	for (int i = threadIdx.x; i < n; i += blockDim.x)
		words[i] = in[i];
	__syncthreads();
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		out[i] = words[n - 1 - i];
}

void gpu_dynamic_shared(struct results *r)
{
	enum { N = 20011 };	/* 80,044 bytes */
	static int in[N], out[N];
	cudaDeviceProp device_has;

	TRY(cudaGetDeviceProperties(&device_has, 0));
	r->add(device_has.sharedMemPerBlock < sizeof(in) && device_has.sharedMemPerBlockOptin >= sizeof(in));
	r->add(device_has.warpSize == 32 && device_has.multiProcessorCount > 0 && device_has.major > 0);
	for (int i = 0; i < N; i++)
		in[i] = i * 13;
	int *din = device(in, N), *dout = device<int>(NULL, N);
	reverse<<<1, 251, sizeof(in)>>>(din, dout, N);
	r->add(cudaGetLastError() == cudaErrorInvalidValue);
	TRY(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(in)));
	reverse<<<1, 251, sizeof(in)>>>(din, dout, N);
	TRY(cudaGetLastError());
	fetch(out, dout, N);
	for (int i = 0; i < N; i++)
		r->add(out[i] == in[N - 1 - i]);
	r->add(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 << 10) ==
	       cudaErrorInvalidValue);
	cudaGetLastError();
	TRY(cudaFree(din));
}
