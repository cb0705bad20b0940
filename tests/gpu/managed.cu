/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Memory that both sides use: managed variables and allocations, pinned and registered memory. */
#include "gpu.h"

__managed__ int counter = 41;
__managed__ float values[13];

__global__ void manage(int *allocated, int *pinned, int *registered)
{
	int i = threadIdx.x;

	atomicAdd(&counter, 1);
	values[i % 13] = i % 13 * .25f;
	allocated[i] += i;
	pinned[i] = allocated[i] * 2;
	registered[i] = -i;
}

void gpu_managed(struct results *r)
{
	enum { N = 101 };
	static int registered[N];
	int *allocated, *pinned, *mapped;

	r->add(counter == 41);
	counter++;
	TRY(cudaMallocManaged(&allocated, N * sizeof(int)));
	TRY(cudaMallocHost(&pinned, N * sizeof(int)));
	TRY(cudaHostRegister(registered, sizeof(registered), cudaHostRegisterMapped));
	TRY(cudaHostGetDevicePointer(&mapped, registered, 0));
	for (int i = 0; i < N; i++)
		allocated[i] = 1000;
	manage<<<1, N>>>(allocated, pinned, mapped);
	TRY(cudaDeviceSynchronize());
	r->add(counter == 42 + N);
	for (int i = 0; i < 13; i++)
		r->add(values[i] == i * .25f);
	for (int i = 0; i < N; i++) {
		r->add(allocated[i] == 1000 + i);
		r->add(pinned[i] == 2000 + 2 * i);
		r->add(registered[i] == -i);
	}
	TRY(cudaHostUnregister(registered));
	TRY(cudaFreeHost(pinned));
	TRY(cudaFree(allocated));
}
