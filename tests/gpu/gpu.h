/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the parts of the program gpu share: each runs kernels and compares their results with the CPU's. */
#ifndef TESTS_GPU_GPU_H
#define TESTS_GPU_GPU_H
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

struct results {
	unsigned long right, all;

	void add(bool is_right)
	{
		right += is_right;
		all++;
	}
};

#define TRY(call) do { \
		cudaError_t err_ = (call); \
		if (err_ != cudaSuccess) { \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(err_)); \
			exit(1); \
		} \
	} while (0)

/* Device memory with a copy of n values. */
template <typename T> T *device(const T *from, size_t n)
{
	T *p;

	TRY(cudaMalloc(&p, n * sizeof(T)));
	if (from)
		TRY(cudaMemcpy(p, from, n * sizeof(T), cudaMemcpyHostToDevice));
	else
		TRY(cudaMemset(p, 0, n * sizeof(T)));
	return p;
}

template <typename T> void fetch(T *to, T *from, size_t n)
{
	TRY(cudaMemcpy(to, from, n * sizeof(T), cudaMemcpyDeviceToHost));
	TRY(cudaFree(from));
}

#define GPU_PARTS(X) \
	X(vadd) X(reduce) X(transpose) X(histogram) X(matmul) X(texture) X(divergence) X(calls) X(print) \
	X(managed) X(symbols) X(graphs) X(streams) X(grid_sync) X(dynamic_shared)
#define GPU_DECLARE(name) void gpu_##name(struct results *r);
GPU_PARTS(GPU_DECLARE)
void gpu_fault(const char *kind);

#endif
