/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Work in several streams, ordered by events, whose times are the kernels'. */
#include "gpu.h"

__global__ void repeat(int *data, int n, int times)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	for (int k = 0; i < n && k < times; k++)
		data[i] += k;
}

void gpu_streams(struct results *r)
{
	enum { N = 127, STREAMS = 5 };
	static int host[STREAMS][N];
	float some = -1, more = -1;
	cudaStream_t stream[STREAMS];
	cudaEvent_t begin, middle, end;
	int *data[STREAMS];

	for (int s = 0; s < STREAMS; s++) {
		TRY(cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking));
		TRY(cudaMallocAsync((void **)&data[s], sizeof(host[s]), stream[s]));
		TRY(cudaMemsetAsync(data[s], 0, sizeof(host[s]), stream[s]));
		repeat<<<1, 128, 0, stream[s]>>>(data[s], N, s + 2);
		TRY(cudaMemcpyAsync(host[s], data[s], sizeof(host[s]), cudaMemcpyDeviceToHost, stream[s]));
	}
	for (int s = 0; s < STREAMS; s++) {
		TRY(cudaStreamSynchronize(stream[s]));
		for (int i = 0; i < N; i++)
			r->add(host[s][i] == (s + 2) * (s + 1) / 2);
	}
	TRY(cudaEventCreate(&begin));
	TRY(cudaEventCreate(&middle));
	TRY(cudaEventCreate(&end));
	TRY(cudaEventRecord(begin, stream[0]));
	repeat<<<1, 32, 0, stream[0]>>>(data[0], N, 10);
	TRY(cudaEventRecord(middle, stream[0]));
	repeat<<<1, 32, 0, stream[0]>>>(data[0], N, 1000);
	TRY(cudaEventRecord(end, stream[0]));
	TRY(cudaEventSynchronize(end));
	TRY(cudaEventElapsedTime(&some, begin, middle));
	TRY(cudaEventElapsedTime(&more, middle, end));
	r->add(some > 0);
	r->add(more > 3 * some);
	for (int s = 0; s < STREAMS; s++) {
		TRY(cudaFreeAsync(data[s], stream[s]));
		TRY(cudaStreamDestroy(stream[s]));
	}
}
