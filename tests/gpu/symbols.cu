/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Variables of a module: initial values, constants, copies by name, a pointer in a variable; what is known of a
 * kernel.
 */
#include "gpu.h"

__constant__ int coefficients[5] = { 2, 3, 5, 7, 11 };
__device__ double scale = 2.5;
__device__ int results_of[64];
__device__ int *where = &results_of[3];

__global__ void __launch_bounds__(96) polynomial(int n)
{
	int x = threadIdx.x, sum = 0;

	if (x >= n)
		return;
	for (int i = 0; i < 5; i++)
		sum = sum * x + coefficients[i];
	where[x] = (int)(sum * scale);
}

static int expected(const int *c, int x, double by)
{
	int sum = 0;

	for (int i = 0; i < 5; i++)
		sum = sum * x + c[i];
	return (int)(sum * by);
}

void gpu_symbols(struct results *r)
{
	enum { N = 59 };
	static const int first[5] = { 2, 3, 5, 7, 11 }, second[5] = { 1, -1, 4, -4, 9 };
	cudaFuncAttributes attributes;
	double by = 0, other = .5;
	int out[N], blocks;
	size_t size = 0;
	void *address;

	TRY(cudaMemcpyFromSymbol(&by, scale, sizeof(by)));
	r->add(by == 2.5);
	polynomial<<<1, 64>>>(N);
	TRY(cudaMemcpyFromSymbol(out, results_of, sizeof(out), 3 * sizeof(int)));
	for (int i = 0; i < N; i++)
		r->add(out[i] == expected(first, i, 2.5));
	TRY(cudaMemcpyToSymbol(coefficients, second, sizeof(second)));
	TRY(cudaMemcpyToSymbol(scale, &other, sizeof(other)));
	polynomial<<<1, 64>>>(N);
	TRY(cudaGetSymbolAddress(&address, results_of));
	TRY(cudaMemcpy(out, (int *)address + 3, sizeof(out), cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		r->add(out[i] == expected(second, i, .5));
	TRY(cudaGetSymbolSize(&size, results_of));
	r->add(size == 64 * sizeof(int));
	TRY(cudaFuncGetAttributes(&attributes, polynomial));
	r->add(attributes.maxThreadsPerBlock == 96);
	r->add(attributes.numRegs > 0 && attributes.numRegs < 256);
	r->add(attributes.sharedSizeBytes == 0);
	TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, polynomial, 96, 0));
	r->add(blocks > 1 && blocks <= 32);
	/* more threads than it is compiled for */
	polynomial<<<1, 128>>>(N);
	r->add(cudaGetLastError() == cudaErrorLaunchOutOfResources);
}
