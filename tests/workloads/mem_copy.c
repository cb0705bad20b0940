/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* mem's words for the runtime that copy, launch and wait; see mem.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

#define TIMES(n) for (unsigned long long left_ = number(n); left_; left_--)
#define SIZE(text) ((size_t)number(text))

void mem_kernel(float *data, int n);
extern const void *const mem_symbol;

static enum cudaMemcpyKind direction(const char *word)
{
	static const char *const names[] = { "h2h", "h2d", "d2h", "d2d", "default" };
	unsigned i;

	for (i = 0; i < 5; i++)
		if (!strcmp(word, names[i]))
			return (enum cudaMemcpyKind)i;
	fprintf(stderr, "mem: expected h2d, d2h, d2d, h2h or default: %s\n", word);
	exit(2);
}

/* Buffers for both ends, kept until bigger ones are needed: the first copy of a
 * thread costs two calls of cudaMalloc when a device takes part, and leaks them.
 */
static __thread struct {
	char *host[2];
	void *device[2];
	size_t host_size, device_size;
} buffer;

static void buffers(size_t size, void **dst, const void **src, enum cudaMemcpyKind kind)
{
	int i, to_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost;
	int from_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice;

	if (buffer.host_size < size) {
		for (i = 0; i < 2; i++) {
			free(buffer.host[i]);
			buffer.host[i] = calloc(1, size);
		}
		buffer.host_size = size;
	}
	if ((!to_host || !from_host) && buffer.device_size < size) {
		int n = 2;

		__asm__("" : "+r"(n));	/* one place to call from, with every compiler */
		for (i = 0; i < n; i++) {
			if (buffer.device_size)
				did((int)RT(cudaFree)(buffer.device[i]));
			if (did((int)RT(cudaMalloc)(&buffer.device[i], size)))
				buffer.device[i] = NULL;
		}
		buffer.device_size = size;
	}
	*dst = to_host ? buffer.host[0] : buffer.device[0];
	*src = from_host ? buffer.host[1] : buffer.device[1];
}

static void do_copy(char **a)
{
	enum cudaMemcpyKind kind = direction(a[2]);
	const void *src;
	void *dst;

	buffers(SIZE(a[1]), &dst, &src, kind);
	TIMES(a[0])
		did((int)RT(cudaMemcpy)(dst, src, SIZE(a[1]), kind));
}

static void do_copyasync(char **a)
{
	enum cudaMemcpyKind kind = direction(a[2]);
	const void *src;
	void *dst;

	buffers(SIZE(a[1]), &dst, &src, kind);
	TIMES(a[0])
		did((int)RT(cudaMemcpyAsync)(dst, src, SIZE(a[1]), kind, stream_now));
}

/* Within the memory, which begins anywhere in a page. */
static void do_copyof(char **a)
{
	enum cudaMemcpyKind kind = direction(a[3]);
	enum kind of = !strcmp(a[0], "host") ? HOST : !strcmp(a[0], "register") ? REGISTERED : DEVICE;
	char *host = (char *)kept(of, 0) + 1000;
	const void *src;
	void *dst;

	buffers(SIZE(a[2]), &dst, &src, kind);
	TIMES(a[1])
		did((int)RT(cudaMemcpyAsync)(kind == cudaMemcpyDeviceToHost ? host : dst,
					     kind == cudaMemcpyDeviceToHost ? src : host, SIZE(a[2]), kind, stream_now));
}

static void do_copy2d(char **a)
{
	size_t width = SIZE(a[1]), height = SIZE(a[2]);
	enum cudaMemcpyKind kind = direction(a[3]);
	const void *src;
	void *dst;

	buffers(width * height, &dst, &src, kind);
	TIMES(a[0])
		did((int)RT(cudaMemcpy2D)(dst, width, src, width, width, height, kind));
}

static void do_peer(char **a)
{
	const void *src;
	void *dst;

	buffers(SIZE(a[1]), &dst, &src, cudaMemcpyDeviceToDevice);
	TIMES(a[0])
		did((int)RT(cudaMemcpyPeer)(dst, 0, src, 1, SIZE(a[1])));
}

static void do_peerof(char **a)
{
	const void *src;
	void *dst;

	buffers(SIZE(a[1]), &dst, &src, cudaMemcpyDeviceToDevice);
	TIMES(a[0])
		did((int)RT(cudaMemcpyPeer)(dst, (int)number(a[3]), src, (int)number(a[2]),
					    SIZE(a[1])));
}

static void do_memset(char **a)
{
	const void *src;
	void *dst;

	buffers(SIZE(a[1]), &dst, &src, cudaMemcpyDeviceToDevice);
	TIMES(a[0])
		did((int)RT(cudaMemset)(dst, 42, SIZE(a[1])));
}

static void do_symbol(char **a)
{
	char data[64] = "mem";

	TIMES(a[0])
		did((int)RT(cudaMemcpyToSymbol)(mem_symbol, data, sizeof(data), 0,
						cudaMemcpyHostToDevice));
}

static void launch(dim3 grid, dim3 block)
{
	float *data = NULL;
	int n = 0;
	void *args[] = { &data, &n };

	did((int)RT(cudaLaunchKernel)((const void *)(uintptr_t)mem_kernel, grid, block, args, 0,
				      stream_now));
}

static void do_launch(char **a)
{
	dim3 grid = { 13, 1, 1 }, block = { 128, 1, 1 };

	TIMES(a[0])
		launch(grid, block);
}

static void do_badlaunch(char **a)
{
	dim3 grid = { 1, 1, 1 }, block = { 4096, 1, 1 };

	TIMES(a[0])
		launch(grid, block);
}

static void do_coop(char **a)
{
	dim3 grid = { 13, 1, 1 }, block = { 128, 1, 1 };
	float *data = NULL;
	int n = 0;
	void *args[] = { &data, &n };

	TIMES(a[0])
		did((int)RT(cudaLaunchCooperativeKernel)((const void *)(uintptr_t)mem_kernel,
							 grid, block, args, 0, NULL));
}

static void do_launchex(char **a)
{
	cudaLaunchConfig_t config;
	float *data = NULL;
	int n = 0;
	void *args[] = { &data, &n };

	memset(&config, 0, sizeof(config));
	config.gridDim = (dim3) { 13, 1, 1 };
	config.blockDim = (dim3) { 128, 1, 1 };
	config.stream = stream_now;
	TIMES(a[0])
		did((int)RT(cudaLaunchKernelExC)(&config, (const void *)(uintptr_t)mem_kernel,
						 args));
}

/* A graph of three captured launches, launched N times. */
static void do_graph(char **a)
{
	dim3 grid = { 13, 1, 1 }, block = { 128, 1, 1 };
	cudaStream_t stream = NULL;
	cudaGraph_t graph = NULL;
	cudaGraphExec_t exec = NULL;
	float *data = NULL;
	int i, n = 0;
	void *args[] = { &data, &n };

	did((int)RT(cudaStreamCreate)(&stream));
	did((int)RT(cudaStreamBeginCapture)(stream, cudaStreamCaptureModeGlobal));
	for (i = 0; i < 3; i++)
		did((int)RT(cudaLaunchKernel)((const void *)(uintptr_t)mem_kernel, grid, block,
					      args, 0, stream));
	did((int)RT(cudaStreamEndCapture)(stream, &graph));
	did((int)RT(cudaGraphInstantiate)(&exec, graph, 0));
	TIMES(a[0])
		did((int)RT(cudaGraphLaunch)(exec, stream));
	did((int)RT(cudaGraphExecDestroy)(exec));
	did((int)RT(cudaGraphDestroy)(graph));
	did((int)RT(cudaStreamDestroy)(stream));
}

static void do_streamsync(char **a)
{
	TIMES(a[0])
		did((int)RT(cudaStreamSynchronize)(stream_now));
}

static void do_query(char **a)
{
	TIMES(a[0])
		did((int)RT(cudaStreamQuery)(stream_now));
}

static void do_meminfo(char **a)
{
	size_t free_bytes, total;

	TIMES(a[0])
		did((int)RT(cudaMemGetInfo)(&free_bytes, &total));
}

static void do_eventsync(char **a)
{
	cudaEvent_t event = NULL;

	did((int)RT(cudaEventCreate)(&event));
	did((int)RT(cudaEventRecord)(event, NULL));
	TIMES(a[0])
		did((int)RT(cudaEventSynchronize)(event));
	did((int)RT(cudaEventDestroy)(event));
}

const struct word copy_words[] = {
	{ "copy", 3, do_copy }, { "copyasync", 3, do_copyasync }, { "copyof", 4, do_copyof }, { "copy2d", 4, do_copy2d },
	{ "peer", 2, do_peer }, { "peerof", 4, do_peerof }, { "memset", 2, do_memset }, { "symbol", 1, do_symbol },
	{ "launch", 1, do_launch }, { "badlaunch", 1, do_badlaunch }, { "coop", 1, do_coop },
	{ "launchex", 1, do_launchex }, { "graph", 1, do_graph },
	{ "streamsync", 1, do_streamsync }, { "query", 1, do_query }, { "eventsync", 1, do_eventsync },
	{ "meminfo", 1, do_meminfo },
	{ NULL, 0, NULL },
};
