// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// train [STEPS]: the program of the manuals' examples.  It has two bugs that the tools find: each step keeps a
// loss on the device for ever, and asks for more memory than there is without looking at the result.
//   make examples       builds it in build/examples, on the simulated CUDA if there is no GPU
//   nvcc -g -lineinfo train.cu     builds it anywhere
#include <cstdlib>
#include <unistd.h>

#ifdef __CUDACC__
#include <cuda_runtime.h>
#else
#include "no_nvcc.h"
#endif

// a function of its own in call stacks, without C++'s list of parameters
#define KEPT extern "C" __attribute__((noinline))

static const size_t mib = 1024 * 1024;
static const int n = 256;	// rows and columns of a matrix
static float *staging, *weights[2];
static float loss;

__global__ void matmul(const float *a, const float *b, float *c, int n)
{
	int row = blockIdx.y * 16 + threadIdx.x / 16, column = blockIdx.x * 16 + threadIdx.x % 16;
	float sum = 0;

	for (int i = 0; i < n; i++)
		sum += a[row * n + i] * b[i * n + column];
	c[row * n + column] = sum;
}

template <typename T> __global__ void add(T *sum, const T *values, int n)
{
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		sum[i] += values[i];
}

#ifndef __CUDACC__
static const kernel kernels[] = {
	{ (const void *)matmul, "_Z6matmulPKfS0_Pfi" },
	{ (const void *)add<float>, "_Z3addIfEvPT_PKS0_i" },
};
static const registration registered(kernels, 2, "//\n.version 9.0\n.target sm_75\n.address_size 64\n"
					     ".visible .entry _Z6matmulPKfS0_Pfi() { ret; }\n"
					     ".visible .entry _Z3addIfEvPT_PKS0_i() { ret; }\n");
#endif

KEPT float *load_weights(size_t size)
{
	float *p = NULL;

	cudaMalloc((void **)&p, size);
	return p;
}

KEPT void launch(const void *kernel, unsigned blocks, unsigned threads, void **args)
{
	cudaLaunchKernel(kernel, dim3(blocks, blocks, 1), dim3(threads, 1, 1), args, 0, NULL);
}

KEPT void load_batch(float *p)
{
	cudaMemcpy(p, staging, mib, cudaMemcpyHostToDevice);
}

KEPT void compute(float *p)
{
	int size = n;
	void *args[] = { &weights[0], &weights[1], &p, &size }, *sum[] = { &p, &weights[0], &size };

	for (int i = 0; i < 2; i++)
		launch((const void *)matmul, n / 16, 256, args);
	launch((const void *)add<float>, 1, 1024, sum);
}

KEPT void save_loss()
{
	float *p = NULL;

	cudaMalloc((void **)&p, 4096);	// and never frees it
	cudaMemcpyAsync(&loss, p, sizeof(loss), cudaMemcpyDeviceToHost, NULL);
}

KEPT void forward()
{
	float *p = NULL;

	cudaMalloc((void **)&p, mib);
	cudaMemset(p, 0, mib);
	load_batch(p);
	compute(p);
	save_loss();
	cudaFree(p);
}

KEPT void grow_batch()
{
	float *p = NULL;

	cudaMalloc((void **)&p, mib << 30);	// a pebibyte; nobody looks at the error
}

KEPT void wait_for_step()
{
	cudaDeviceSynchronize();
}

int main(int argc, char **argv)
{
	long steps = argc > 1 ? atol(argv[1]) : 10;

#ifdef SIMULATED
	// a step takes 20 ms there: the simulation reads this before main()
	if (!getenv("SIM_LATENCY_US") && !setenv("SIM_LATENCY_US", "cuCtxSynchronize=20000", 1))
		execvp(argv[0], argv);
#endif
	cudaMallocHost((void **)&staging, 4 * mib);
	for (int i = 0; i < 2; i++)
		weights[i] = load_weights(64 * mib);
	while (steps-- > 0) {
		forward();
		grow_batch();
		wait_for_step();
	}
	cudaFree(weights[1]);
	cudaFree(weights[0]);
	cudaFreeHost(staging);
	return 0;
}
