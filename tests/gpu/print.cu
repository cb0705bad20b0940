/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* printf() of a kernel, and malloc(). */
#include "gpu.h"

__global__ void print(int *out)
{
	int *own = (int *)malloc(7 * sizeof(int));

	for (int i = 0; i < 7; i++)
		own[i] = threadIdx.x * i;
	out[threadIdx.x] = own[6] + own[1];
	free(own);
	if (threadIdx.x % 3 == 1)
		printf("thread %d of %s: %5.2f %llx %c\n", threadIdx.x, "print", threadIdx.x / 4., 0x123456789abcull,
		       'a' + threadIdx.x);
}

void gpu_print(struct results *r)
{
	int out[7], *dout = device<int>(NULL, 7);

	print<<<1, 7>>>(dout);
	TRY(cudaDeviceSynchronize());
	fetch(out, dout, 7);
	for (int i = 0; i < 7; i++)
		r->add(out[i] == 7 * i);
}
