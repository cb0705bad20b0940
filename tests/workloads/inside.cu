/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* inside WORD [NUMBER...]: kernels of which the program itself knows what a tool that looks into them should find:
 * for scripts/gpu-check.  What it knows is printed as "WORD: NUMBER...".
 *   chase LOADS BYTES    one thread follows LOADS pointers, BYTES apart: cycles of each, by two clocks around them all
 *   stride LAUNCHES N    each of 1,024 lanes reads the N-th float: warps that read
 *   outside LANES        that many lanes read behind the end of an allocation
 *   big LAUNCHES         1,024 threads a block: how many results are right
 *   spin LAUNCHES US     each runs that long: ns of them all, by events around each
 *   graph LAUNCHES       of a graph with two kernels
 *   gridid LAUNCHES      on two streams: whether all %gridid differ, and grow along each stream
 *   globaltimer          the smallest step of %globaltimer, ns
 *   sum LAUNCHES FLOATS  adds two vectors: median us of a launch, by events
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <vector>

#include <cuda_runtime.h>

#define TRY(call) do { \
		cudaError_t err_ = (call); \
		if (err_ != cudaSuccess) { \
			fprintf(stderr, "inside: %s: %s\n", #call, cudaGetErrorName(err_)); \
			exit(1); \
		} \
	} while (0)

typedef unsigned long long u64;

static __device__ u64 global_ns()
{
	u64 ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

__global__ void chase(const u64 *p, int loads, u64 *result)
{
	long long begin = clock64();

#pragma unroll 1
	for (int i = 0; i < loads; i++)
		p = (const u64 *)*p;
	// the address of the last is a part of the result, so that all are waited for
	result[1] = (u64)p;
	result[0] = clock64() - begin;
}

__global__ void stride(const float *from, float *to, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	to[i] = from[(size_t)i * n];
}

__global__ void outside(const int *p, int n, int *to)
{
	// 16 KiB behind what was allocated: in a page that is mapped
	if ((int)threadIdx.x < n)
		*to = p[4096 + threadIdx.x];
}

__global__ void __launch_bounds__(1024) big(const int *from, int *to)
{
	to[threadIdx.x] = from[threadIdx.x] + from[1023 - threadIdx.x];
}

__global__ void spin(u64 ns)
{
	u64 begin = global_ns();

	while (global_ns() - begin < ns)
		;
}

__global__ void grid(u64 *id)
{
	asm volatile("mov.u64 %0, %%gridid;" : "=l"(*id));
}

__global__ void steps(u64 *smallest)
{
	u64 least = ~0ull, last = global_ns();

	for (int i = 0; i < 100;) {
		u64 now = global_ns();

		if (now == last)
			continue;
		least = now - last < least ? now - last : least;
		last = now;
		i++;
	}
	*smallest = least;
}

__global__ void sum(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

template <typename T> static T *device(size_t n)
{
	T *p;

	TRY(cudaMalloc(&p, n * sizeof(T)));
	TRY(cudaMemset(p, 0, n * sizeof(T)));
	return p;
}

template <typename T> static std::vector<T> host(const T *p, size_t n)
{
	std::vector<T> v(n);

	TRY(cudaDeviceSynchronize());
	TRY(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
	return v;
}

/* Times launches of the kernel one by one, in ms. */
template <typename K, typename F> static std::vector<float> timed(K kernel, int launches, F launch)
{
	cudaFuncAttributes attributes;
	std::vector<float> all;
	cudaEvent_t begin, end;
	float ms;

	// has it compiled and loaded now, which the first launch would do between its events
	TRY(cudaFuncGetAttributes(&attributes, kernel));
	TRY(cudaEventCreate(&begin));
	TRY(cudaEventCreate(&end));
	for (int i = 0; i < launches; i++) {
		TRY(cudaEventRecord(begin));
		launch();
		TRY(cudaEventRecord(end));
		TRY(cudaEventSynchronize(end));
		TRY(cudaEventElapsedTime(&ms, begin, end));
		all.push_back(ms);
	}
	TRY(cudaGetLastError());
	return all;
}

static void run_chase(int loads, int bytes)
{
	int places = 4096, step = bytes / 8;
	std::vector<u64> ring((size_t)places * step);
	u64 *p = device<u64>(ring.size()), *result = device<u64>(2);

	for (int i = 0; i < places; i++)
		ring[(size_t)i * step] = (u64)(p + (size_t)((i + 1) % places) * step);
	TRY(cudaMemcpy(p, ring.data(), ring.size() * 8, cudaMemcpyHostToDevice));
	chase<<<1, 1>>>(p, loads, result);
	printf("chase: %.0f\n", (double)host(result, 2)[0] / loads);
}

static void run_gridid(int launches)
{
	std::vector<u64> ids;
	cudaStream_t stream[2];
	bool grow = true;

	u64 *id = device<u64>(launches);
	for (cudaStream_t &s : stream)
		TRY(cudaStreamCreate(&s));
	for (int i = 0; i < launches; i++)
		grid<<<1, 1, 0, stream[i & 1]>>>(id + i);
	ids = host(id, launches);
	for (int i = 2; i < launches; i++)
		grow &= ids[i] > ids[i - 2];
	std::set<u64> apart(ids.begin(), ids.end());
	printf("gridid: %s, %s\n", (int)apart.size() == launches ? "all differ" : "some are the same",
	       grow ? "they grow" : "they do not grow");
}

static void run_graph(int launches)
{
	int *from = device<int>(1024), *to = device<int>(1024);
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	TRY(cudaStreamCreate(&stream));
	TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	big<<<1, 1024, 0, stream>>>(from, to);
	big<<<1, 1024, 0, stream>>>(to, from);
	TRY(cudaStreamEndCapture(stream, &graph));
	TRY(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	for (int i = 0; i < launches; i++)
		TRY(cudaGraphLaunch(exec, stream));
	TRY(cudaDeviceSynchronize());
	printf("graph: %d\n", 2 * launches);
}

static void run_big(int launches)
{
	int *from = device<int>(1024), *to = device<int>(1024), right = 0;
	std::vector<int> numbers(1024);

	for (int i = 0; i < 1024; i++)
		numbers[i] = i;
	TRY(cudaMemcpy(from, numbers.data(), 4096, cudaMemcpyHostToDevice));
	for (int i = 0; i < launches; i++)
		big<<<1, 1024>>>(from, to);
	TRY(cudaGetLastError());
	for (int n : host(to, 1024))
		right += n == 1023;
	printf("big: %d\n", right);
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 1, m = argc > 3 ? atoi(argv[3]) : 1;

	if (n < 1 || m < 1)
		return 2;
	if (!strcmp(word, "chase") && m >= 8) {
		run_chase(n, m);
	} else if (!strcmp(word, "stride")) {
		float *from = device<float>((size_t)1024 * m), *to = device<float>(1024);

		for (int i = 0; i < n; i++)
			stride<<<4, 256>>>(from, to, m);
		TRY(cudaDeviceSynchronize());
		printf("stride: %d\n", 32 * n);
	} else if (!strcmp(word, "outside")) {
		int *p = device<int>(1), *to = device<int>(1);

		outside<<<1, 32>>>(p, n, to);
		TRY(cudaDeviceSynchronize());
		printf("outside: %d\n", n);
	} else if (!strcmp(word, "big")) {
		run_big(n);
	} else if (!strcmp(word, "spin")) {
		float ms = 0;

		for (float one : timed(spin, n, [=] { spin<<<1, 32>>>(m * 1000ull); }))
			ms += one;
		printf("spin: %.0f\n", ms * 1e6);
	} else if (!strcmp(word, "graph")) {
		run_graph(n);
	} else if (!strcmp(word, "gridid")) {
		run_gridid(n);
	} else if (!strcmp(word, "globaltimer")) {
		u64 *least = device<u64>(1);

		steps<<<1, 1>>>(least);
		printf("globaltimer: %llu\n", host(least, 1)[0]);
	} else if (!strcmp(word, "sum")) {
		float *a = device<float>(m), *b = device<float>(m), *c = device<float>(m);
		std::vector<float> all = timed(sum, n, [=] { sum<<<(m + 255) / 256, 256>>>(a, b, c, m); });

		std::sort(all.begin(), all.end());
		printf("sum: %.1f\n", all[all.size() / 2] * 1000);
	} else {
		return 2;
	}
	return 0;
}
