/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Products of matrices, in half and in double precision, with values whose sums are exact. */
#include <cuda_fp16.h>

#include "gpu.h"

__global__ void matmul_half(const __half *a, const __half *b, __half *c, int n)
{
	int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
	__half sum = __float2half(0);

	if (row >= n || column >= n)
		return;
	for (int i = 0; i < n; i++)
		sum = __hfma(a[row * n + i], b[i * n + column], sum);
	c[row * n + column] = sum;
}

__global__ void matmul_double(const double *a, const double *b, double *c, int n)
{
	int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
	double sum = 0;

	if (row >= n || column >= n)
		return;
	for (int i = 0; i < n; i++)
		sum = fma(a[row * n + i], b[i * n + column], sum);
	c[row * n + column] = sqrt(sum * sum) / 3;
}

void gpu_matmul(struct results *r)
{
	enum { N = 37 };
	static __half ha[N * N], hb[N * N], hc[N * N];
	static double a[N * N], b[N * N], c[N * N];

	for (int i = 0; i < N * N; i++) {
		a[i] = i % 7 - 3;
		b[i] = i % 5 - 2;
		ha[i] = __float2half((float)a[i]);
		hb[i] = __float2half((float)b[i]);
	}
	dim3 grid((N + 7) / 8, (N + 7) / 8), block(8, 8);
	__half *dha = device(ha, N * N), *dhb = device(hb, N * N), *dhc = device<__half>(NULL, N * N);
	double *da = device(a, N * N), *db = device(b, N * N), *dc = device<double>(NULL, N * N);
	matmul_half<<<grid, block>>>(dha, dhb, dhc, N);
	matmul_double<<<grid, block>>>(da, db, dc, N);
	fetch(hc, dhc, N * N);
	fetch(c, dc, N * N);
	for (void *p : { (void *)dha, (void *)dhb, (void *)da, (void *)db })
		TRY(cudaFree(p));
	for (int row = 0; row < N; row++)
		for (int column = 0; column < N; column++) {
			double sum = 0;

			for (int i = 0; i < N; i++)
				sum += a[row * N + i] * b[i * N + column];
			r->add(__half2float(hc[row * N + column]) == (float)sum);
			r->add(c[row * N + column] == (sum < 0 ? -sum : sum) / 3);
		}
}
