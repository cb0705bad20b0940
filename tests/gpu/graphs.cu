/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Graphs: captured, with a second stream, and made by hand, with a parameter changed later. */
#include "gpu.h"

__global__ void affine(int *data, int n, int times, int plus)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		data[i] = data[i] * times + plus;
}

enum { N = 257 };

static void count(void *calls)
{
	++*(int *)calls;
}

static void captured(struct results *r)
{
	static int host[N];
	int *a = device<int>(NULL, N), *b = device<int>(NULL, N), calls = 0;
	cudaStream_t one, two;
	cudaEvent_t fork, join;
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	TRY(cudaStreamCreate(&one));
	TRY(cudaStreamCreate(&two));
	TRY(cudaEventCreate(&fork));
	TRY(cudaEventCreate(&join));
	TRY(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
	affine<<<3, 96, 0, one>>>(a, N, 1, 2);
	TRY(cudaEventRecord(fork, one));
	TRY(cudaStreamWaitEvent(two, fork, 0));
	affine<<<3, 96, 0, two>>>(b, N, 1, 5);
	affine<<<3, 96, 0, one>>>(a, N, 3, 0);
	TRY(cudaEventRecord(join, two));
	TRY(cudaStreamWaitEvent(one, join, 0));
	TRY(cudaLaunchHostFunc(one, count, &calls));
	TRY(cudaMemcpyAsync(host, a, sizeof(host), cudaMemcpyDeviceToHost, one));
	TRY(cudaStreamEndCapture(one, &graph));
	TRY(cudaGraphInstantiate(&exec, graph, 0));
	r->add(calls == 0);
	for (int i = 0; i < 3; i++)
		TRY(cudaGraphLaunch(exec, one));
	TRY(cudaStreamSynchronize(one));
	r->add(calls == 3);
	for (int i = 0; i < N; i++)
		r->add(host[i] == ((2 * 3 + 2) * 3 + 2) * 3);
	fetch(host, b, N);
	for (int i = 0; i < N; i++)
		r->add(host[i] == 15);
	TRY(cudaGraphExecDestroy(exec));
	TRY(cudaGraphDestroy(graph));
	TRY(cudaFree(a));
}

static void by_hand(struct results *r)
{
	static int host[N];
	int *a = device<int>(NULL, N), n = N, times = 7, plus = 1;
	void *args[] = { &a, &n, &times, &plus };
	cudaGraphNode_t set, first, second, copy;
	cudaKernelNodeParams kernel = {};
	cudaMemsetParams fill = {};
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	TRY(cudaGraphCreate(&graph, 0));
	fill.dst = a;
	fill.value = 1;
	fill.elementSize = 4;
	fill.width = N;
	fill.height = 1;
	kernel.func = (void *)affine;
	kernel.gridDim = dim3(3);
	kernel.blockDim = dim3(96);
	kernel.kernelParams = args;
	TRY(cudaGraphAddMemsetNode(&set, graph, NULL, 0, &fill));
	TRY(cudaGraphAddKernelNode(&first, graph, &set, 1, &kernel));
	times = 10;
	TRY(cudaGraphAddKernelNode(&second, graph, &first, 1, &kernel));
	TRY(cudaGraphAddMemcpyNode1D(&copy, graph, &second, 1, host, a, sizeof(host), cudaMemcpyDeviceToHost));
	TRY(cudaGraphInstantiate(&exec, graph, 0));
	TRY(cudaGraphLaunch(exec, 0));
	TRY(cudaDeviceSynchronize());
	for (int i = 0; i < N; i++)
		r->add(host[i] == (1 * 7 + 1) * 10 + 1);
	plus = 3;
	TRY(cudaGraphExecKernelNodeSetParams(exec, second, &kernel));
	TRY(cudaGraphLaunch(exec, 0));
	TRY(cudaDeviceSynchronize());
	for (int i = 0; i < N; i++)
		r->add(host[i] == (1 * 7 + 1) * 10 + 3);
	TRY(cudaGraphExecDestroy(exec));
	TRY(cudaGraphDestroy(graph));
	TRY(cudaFree(a));
}

void gpu_graphs(struct results *r)
{
	captured(r);
	by_hand(r);
}
