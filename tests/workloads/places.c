/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* places WORD...: memory and streams that are where the arguments of a call say.  Device 0 is current all the time.
 *   vmm      cuMemCreate: 3 of 2 MiB on device 1, 2 of 4 MiB on device 0, 5 of 8 MiB on a NUMA node of the host, 7 of 2 MiB on the
 *            host, 1 of 2 MiB on its NUMA node
 *   pools    11 of 1000 bytes from a pool of device 1, 13 of 300 by the runtime, 17 of 70 from the default pool of device 1,
 *            19 of 50 from one of the host, 2 of 8 from that of device 0
 *   imported 3 of 9 bytes from a pool of another process
 *   cast     2 multicast objects
 *   green    launches: 23 in a stream of a green context of device 1, 5 in one of an execution context of device 1; then 7 of
 *            100 bytes in the order of the first
 *   graph    a graph that allocates 3000 bytes on device 1 is launched
 *   handles  3 VMM handles of another process, each mapped; 1 of 2 MiB on device 1, and 2 more references to it
 *   managed  prefetches of managed memory: 7 to device 1, 3 to the host; of the driver 5 to device 1, 2 to a NUMA node; of
 *            its first form 11 to device 1, 13 to the host.  Advice: 17 about device 1, 3 about the host, 19 about none
 *            with device 1 passed; of the driver's first form 2 about device 1, 5 about the host
 *   batches  prefetches: 3 to device 1, 2 to devices 0 and 1, 5 to the host, 7 to 64 places on device 1, 1 to 65;
 *            discards: 11 in a stream of device 1, 13 with prefetches to it
 *   copies   between devices, in device 0's default stream: 3 from 1 to 0, 5 from 0 to 1; with their parameters in memory
 *            7 from 1 to 0, 11 from 0 to 1
 *   others   calls that no row of cuda_api.tbl describes: 3 with a stream of device 1, 5 with a pool of it, 7 with its
 *            number, 11 with a location
 * Some functions are of places_cuda.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "places.h"

static void nothing(void)
{
}

static void create(int n, size_t size, CUmemLocationType type, int id)
{
	CUmemAllocationProp p;
	CUmemGenericAllocationHandle h;

	memset(&p, 0, sizeof(p));
	p.location.type = type;
	p.location.id = id;
	while (n--)
		if (cuMemCreate(&h, size, &p, 0))
			fprintf(stderr, "places: cuMemCreate fails\n");
}

static void vmm(void)
{
	create(3, 2 << 20, CU_MEM_LOCATION_TYPE_DEVICE, 1);
	create(2, 4 << 20, CU_MEM_LOCATION_TYPE_DEVICE, 0);
	create(5, 8 << 20, CU_MEM_LOCATION_TYPE_HOST_NUMA, 1);
	create(7, 2 << 20, CU_MEM_LOCATION_TYPE_HOST, 0);
	create(1, 2 << 20, CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 1);
}

static void from(CUmemoryPool pool, int n, size_t size)
{
	CUdeviceptr p;

	while (n--)
		if (cuMemAllocFromPoolAsync(&p, size, pool, NULL))
			fprintf(stderr, "places: cuMemAllocFromPoolAsync fails\n");
}

static CUmemoryPool pool_on(CUmemLocationType type, int id)
{
	CUmemPoolProps props;
	CUmemoryPool pool = NULL;

	memset(&props, 0, sizeof(props));
	props.location.type = type;
	props.location.id = id;
	if (cuMemPoolCreate(&pool, &props))
		fprintf(stderr, "places: cuMemPoolCreate fails\n");
	return pool;
}

static void pools(void)
{
	struct cudaMemPoolProps props;
	cudaMemPool_t own;
	CUmemoryPool pool;
	void *p;

	from(pool_on(CU_MEM_LOCATION_TYPE_DEVICE, 1), 11, 1000);
	from(pool_on(CU_MEM_LOCATION_TYPE_HOST, 0), 19, 50);
	memset(&props, 0, sizeof(props));
	props.location.type = cudaMemLocationTypeDevice;
	props.location.id = 1;
	cudaMemPoolCreate(&own, &props);
	for (int i = 0; i < 13; i++)
		cudaMallocFromPoolAsync(&p, 300, own, NULL);
	cuDeviceGetDefaultMemPool(&pool, 1);
	from(pool, 17, 70);
	cuDeviceGetDefaultMemPool(&pool, 0);
	from(pool, 2, 8);
}

static void imported(void)
{
	CUmemoryPool pool;

	cuMemPoolImportFromShareableHandle(&pool, pool_on(CU_MEM_LOCATION_TYPE_DEVICE, 0), 0, 0);
	from(pool, 3, 9);
}

static void cast(void)
{
	CUmulticastObjectProp prop;
	CUmemGenericAllocationHandle h;

	memset(&prop, 0, sizeof(prop));
	prop.size = 2 << 20;
	cuMulticastCreate(&h, &prop);
	cuMulticastCreate(&h, &prop);
}

static void green(void)
{
	void *ctx, *stream, *p;

	cuGreenCtxCreate(&ctx, &ctx, 1, 1);
	cuGreenCtxStreamCreate(&stream, ctx, 1, 0);
	for (int i = 0; i < 23; i++)
		cudaLaunchKernel((void *)nothing, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, NULL, 0, stream);
	for (int i = 0; i < 7; i++)
		cudaMallocAsync(&p, 100, stream);
	cudaDeviceGetExecutionCtx(&ctx, 1);
	cudaExecutionCtxStreamCreate(&stream, ctx, 1, 0);
	for (int i = 0; i < 5; i++)
		cudaLaunchKernel((void *)nothing, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, NULL, 0, stream);
}

static void graph(void)
{
	struct cudaMemAllocNodeParams params;
	cudaGraphNode_t node;
	cudaGraphExec_t exec;
	cudaGraph_t g;

	memset(&params, 0, sizeof(params));
	params.poolProps.location.type = cudaMemLocationTypeDevice;
	params.poolProps.location.id = 1;
	params.bytesize = 3000;
	cudaGraphCreate(&g, 0);
	cudaGraphAddMemAllocNode(&node, g, NULL, 0, &params);
	cudaGraphInstantiate(&exec, g, 0);
	cudaGraphLaunch(exec, NULL);
}

static void handles(void)
{
	CUmemGenericAllocationHandle h;
	CUmemAllocationProp prop;
	CUdeviceptr p;

	for (int i = 0; i < 3; i++) {
		cuMemAddressReserve(&p, 2 << 20, 0, 0, 0);
		cuMemImportFromShareableHandle(&h, NULL, 0);
		cuMemMap(p, 2 << 20, 0, h, 0);
	}
	memset(&prop, 0, sizeof(prop));
	prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	prop.location.id = 1;
	cuMemAddressReserve(&p, 2 << 20, 0, 0, 0);
	cuMemCreate(&h, 2 << 20, &prop, 0);
	cuMemMap(p, 2 << 20, 0, h, 0);
	cuMemRetainAllocationHandle(&h, (void *)(unsigned long)p);
	cuMemRetainAllocationHandle(&h, (void *)(unsigned long)p);
}

enum { PREFER = 3, ACCESSED = 5, READ_MOSTLY = 1 };

#define TIMES(n) for (int times = n; times--; )

static void managed(void)
{
	const struct cudaMemLocation second = { .type = cudaMemLocationTypeDevice, .id = 1 };
	const struct cudaMemLocation host = { .type = (enum cudaMemLocationType)CU_MEM_LOCATION_TYPE_HOST, .id = 1 };
	const CUmemLocation to = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1 };
	const CUmemLocation node = { .type = CU_MEM_LOCATION_TYPE_HOST_NUMA, .id = 1 };
	const size_t n = 4096;
	void *p;

	cudaMallocManaged(&p, n, 1);
	TIMES(7) cudaMemPrefetchAsync(p, n, second, 0, NULL);
	TIMES(3) cudaMemPrefetchAsync(p, n, host, 0, NULL);
	TIMES(5) cuMemPrefetchAsync_v2((CUdeviceptr)p, n, to, 0, NULL);
	TIMES(2) cuMemPrefetchAsync_v2((CUdeviceptr)p, n, node, 0, NULL);
	TIMES(11) cuMemPrefetchAsync((CUdeviceptr)p, n, 1, NULL);
	TIMES(13) cuMemPrefetchAsync((CUdeviceptr)p, n, -1, NULL);
	TIMES(17) cudaMemAdvise(p, n, (enum cudaMemoryAdvise)PREFER, second);
	TIMES(3) cudaMemAdvise(p, n, (enum cudaMemoryAdvise)ACCESSED, host);
	TIMES(19) cudaMemAdvise(p, n, (enum cudaMemoryAdvise)READ_MOSTLY, second);
	TIMES(2) cuMemAdvise((CUdeviceptr)p, n, ACCESSED, 1);
	TIMES(5) cuMemAdvise((CUdeviceptr)p, n, PREFER, -1);
}

static void *second_stream(void)
{
	cudaStream_t stream;

	cudaSetDevice(1);
	cudaStreamCreate(&stream);
	cudaSetDevice(0);
	return stream;
}

static void batches(void)
{
	struct cudaMemLocation to[65], host = { .type = (enum cudaMemLocationType)CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT };
	CUmemLocation second = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1 };
	size_t size = 64, which = 0;
	void *p = &size, *stream = second_stream();
	CUdeviceptr address = 64;

	for (int i = 0; i < 65; i++)
		to[i] = (struct cudaMemLocation){ .type = cudaMemLocationTypeDevice, .id = 1 };
	TIMES(3) cudaMemPrefetchBatchAsync(&p, &size, 1, to, &which, 1, 0, NULL);
	TIMES(5) cudaMemPrefetchBatchAsync(&p, &size, 1, &host, &which, 1, 0, NULL);
	TIMES(7) cudaMemPrefetchBatchAsync(&p, &size, 1, to, &which, 64, 0, NULL);
	TIMES(1) cudaMemPrefetchBatchAsync(&p, &size, 1, to, &which, 65, 0, NULL);
	to[0].id = 0;
	TIMES(2) cudaMemPrefetchBatchAsync(&p, &size, 1, to, &which, 2, 0, NULL);
	TIMES(11) cudaMemDiscardBatchAsync(&p, &size, 1, 0, stream);
	TIMES(13) cuMemDiscardAndPrefetchBatchAsync(&address, &size, 1, &second, &which, 1, 0, NULL);
}

static void copies(void)
{
	struct cudaMemcpy3DPeerParms there, back;
	void *first, *second;

	cudaMalloc(&first, 64);
	cudaSetDevice(1);
	cudaMalloc(&second, 64);
	cudaSetDevice(0);
	TIMES(3) cudaMemcpyPeer(first, 0, second, 1, 64);
	TIMES(5) cudaMemcpyPeerAsync(second, 1, first, 0, 64, NULL);
	memset(&there, 0, sizeof(there));
	there.extent.width = 64;
	there.extent.height = there.extent.depth = 1;
	there.srcPtr.ptr = first;
	there.dstPtr.ptr = second;
	there.srcPtr.pitch = there.dstPtr.pitch = 64;
	there.dstDevice = 1;
	back = there;
	back.srcPtr = there.dstPtr;
	back.dstPtr = there.srcPtr;
	back.srcDevice = 1;
	back.dstDevice = 0;
	TIMES(7) cudaMemcpy3DPeer(&back);
	TIMES(11) cudaMemcpy3DPeerAsync(&there, NULL);
}

static void others(void)
{
	struct cudaMemLocation location = { .type = cudaMemLocationTypeDevice, .id = 1 };
	void *stream = second_stream();
	cudaMemPool_t pool;
	int value;

	cudaDeviceGetDefaultMemPool(&pool, 1);
	TIMES(3) cudaStreamAddCallback(stream, (void *)nothing, NULL, 0);
	TIMES(5) cudaMemPoolTrimTo(pool, 0);
	TIMES(7) cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)1, 1);
	TIMES(11) cudaMemSetMemPool(&location, 1, pool);
}

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*run)(void); } words[] = {
		{ "vmm", vmm }, { "pools", pools }, { "imported", imported }, { "cast", cast }, { "green", green },
		{ "graph", graph }, { "handles", handles }, { "managed", managed }, { "batches", batches }, { "copies", copies },
		{ "others", others },
	};

	cudaSetDevice(0);
	cudaFree(NULL);
	for (int i = 1; i < argc; i++)
		for (unsigned j = 0; j < sizeof(words) / sizeof(*words); j++)
			if (!strcmp(argv[i], words[j].name))
				words[j].run();
	return 0;
}
