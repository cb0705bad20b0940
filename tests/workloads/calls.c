/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* calls WORD: makes calls of the runtime.
 *   asked            allocates more than there is, asks for the error, frees nothing
 *   peeked           the same with cudaPeekAtLastError
 *   named            the same with cudaGetErrorName of what was returned
 *   last             ends after the call that failed
 *   asked-by-other   another thread asks, before this one goes on
 *   eleven           the functions that the cuda_events tutorial traces: each once, cudaMalloc twice
 *   wait             prints "ready" and reads a line, then eleven
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cuda_api.h"

static void too_much(void)
{
	void *p;

	cudaMalloc(&p, (size_t)1 << 50);
}

static void *ask(void *unused)
{
	cudaGetLastError();
	return unused;
}

static void kernel(void)
{
	__asm__ volatile("");
}

static void eleven(void)
{
	const dim3 one = { 1, 1, 1 };
	static char host[64];
	cudaStream_t stream = NULL;
	cudaEvent_t event = NULL;
	void *p = NULL, *q = NULL;
	int device;

	cudaMalloc(&p, 64);
	cudaMalloc(&q, 64);
	cudaMemcpy(p, host, sizeof(host), cudaMemcpyHostToDevice);
	cudaLaunchKernel((const void *)(unsigned long)kernel, one, one, NULL, 0, NULL);
	cudaStreamCreate(&stream);
	cudaStreamSynchronize(stream);
	cudaGetDevice(&device);
	cudaSetDevice(device);
	cudaEventCreate(&event);
	cudaEventRecord(event, stream);
	cudaEventSynchronize(event);
	cudaFree(p);
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	cudaError_t error;
	pthread_t other;
	void *p;

	if (!strcmp(word, "wait")) {
		puts("ready");
		fflush(stdout);
		getchar();
		word = "eleven";
	}
	if (!strcmp(word, "eleven")) {
		eleven();
		return 0;
	}
	if (!strcmp(word, "named")) {
		error = cudaMalloc(&p, (size_t)1 << 50);
		fprintf(stderr, "calls: %s\n", cudaGetErrorName(error));
		cudaFree(NULL);
		return 0;
	}
	cudaFree(NULL);
	too_much();
	if (!strcmp(word, "last"))
		return 0;
	if (!strcmp(word, "asked"))
		cudaGetLastError();
	else if (!strcmp(word, "peeked"))
		cudaPeekAtLastError();
	else if (!strcmp(word, "asked-by-other")) {
		pthread_create(&other, NULL, ask, NULL);
		pthread_join(other, NULL);
	} else {
		return 2;
	}
	cudaFree(NULL);
	return 0;
}
