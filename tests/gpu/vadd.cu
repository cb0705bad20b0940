/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The sum of two vectors; the last block is not full. */
#include "gpu.h"

__global__ void vadd(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

void gpu_vadd(struct results *r)
{
	enum { N = 10007 };
	static float a[N], b[N], c[N];

	for (int i = 0; i < N; i++) {
		a[i] = i * .5f;
		b[i] = 3 - i;
	}
	float *da = device(a, N), *db = device(b, N), *dc = device<float>(NULL, N);
	vadd<<<(N + 255) / 256, 256>>>(da, db, dc, N);
	TRY(cudaGetLastError());
	TRY(cudaDeviceSynchronize());
	fetch(c, dc, N);
	TRY(cudaFree(da));
	TRY(cudaFree(db));
	for (int i = 0; i < N; i++)
		r->add(c[i] == a[i] + b[i]);
}
