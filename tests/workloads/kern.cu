/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* kern [SCALES FILLS MALLOCS FREES COPIES [wait|again...]]: launches scale(float*, int)
 * SCALES (1009) and fill<int>(int*, int, int) FILLS (503) times, allocates MALLOCS
 * (23) times 4096 bytes, frees FREES (7) of them, copies COPIES (11) times 4096 bytes
 * to the device; two more allocations are the kernels' data, freed at the end.
 * wait: prints "ready" and reads a line before anything else.
 * again: after all launches prints "ready", reads a line, launches as often again; once for each such word.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

__global__ void scale(float *data, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		data[i] *= 2;
}

template <typename T>
__global__ void fill(T *data, T value, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		data[i] = value;
}

static void ready()
{
	puts("ready");
	fflush(stdout);
	getchar();
}

static void launch(float *floats, int *ints, int n, int scales, int fills)
{
	for (int i = 0; i < scales; i++)
		scale<<<8, 128>>>(floats, n);
	for (int i = 0; i < fills; i++)
		fill<int><<<4, 256>>>(ints, i, n);
	cudaDeviceSynchronize();
}

static int argument(int argc, char **argv, int i, int otherwise)
{
	return i < argc ? atoi(argv[i]) : otherwise;
}

int main(int argc, char **argv)
{
	const int n = 1024;
	int scales = argument(argc, argv, 1, 1009), fills = argument(argc, argv, 2, 503);
	int mallocs = argument(argc, argv, 3, 23), frees = argument(argc, argv, 4, 7);
	int copies = argument(argc, argv, 5, 11);
	std::vector<float> host(n);
	std::vector<void *> pointers;
	float *floats = nullptr;
	int *ints = nullptr;

	if (argc > 6 && !strcmp(argv[6], "wait"))
		ready();
	cudaMalloc(&floats, n * sizeof(*floats));
	cudaMalloc(&ints, n * sizeof(*ints));
	for (int i = 0; i < mallocs; i++) {
		void *p = nullptr;

		if (cudaMalloc(&p, 4096) == cudaSuccess)
			pointers.push_back(p);
	}
	for (int i = 0; i < copies; i++)
		cudaMemcpy(floats, host.data(), n * sizeof(*floats), cudaMemcpyHostToDevice);
	launch(floats, ints, n, scales, fills);
	for (int i = 6; i < argc && !strcmp(argv[i], "again"); i++) {
		ready();
		launch(floats, ints, n, scales, fills);
	}
	for (int i = 0; i < frees && !pointers.empty(); i++) {
		cudaFree(pointers.back());
		pointers.pop_back();
	}
	cudaFree(floats);
	cudaFree(ints);
	return 0;
}
