/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The kernels of tests/workloads/timed.c.  timed.ptx is made of it by nvcc -lineinfo -arch=sm_75 -ptx. */

static __device__ __forceinline__ float half_of(const float *p)
{
	return *p / 2;
}

/* b[i] = a[i] + a[i] / 2 */
extern "C" __global__ void __launch_bounds__(1024) scale(const volatile float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		b[i] = a[i] + half_of((const float *)a + i);
}

/* *b = the sum of a */
extern "C" __global__ void sum(const float *a, float *b, int n)
{
	__shared__ float part[1024];
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	part[threadIdx.x] = i < n ? a[i] : 0;
	for (int k = blockDim.x / 2; k; k /= 2) {
		__syncthreads();
		if (threadIdx.x < k)
			part[threadIdx.x] += part[threadIdx.x + k];
	}
	if (!threadIdx.x)
		atomicAdd(b, part[0]);
}

/* b[i] = a[i], by way of the texture cache, in two halves of a warp */
template <class T> static __device__ void copy_one(const T *a, T *b, int i)
{
	b[i] = __ldg(a + i);
}

template <class T> __global__ void halves(const T *a, T *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	if (i & 16)
		copy_one(a, b, i);
	else
		b[i] = *(const volatile T *)(a + i);
}

template __global__ void halves<float>(const float *a, float *b, int n);
