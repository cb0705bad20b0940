/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runtime: what programs ask of devices and set before they begin.  Programs that do so are built with NVIDIA's
 * headers, whose struct is large: without them there is none of it.
 */
#include <stdio.h>
#include <string.h>

#include "rt.h"

#ifdef SIM_NVIDIA_HEADERS
#include <cuda_profiler_api.h>

static int attribute(enum cudaDeviceAttr which, int dev)
{
	int value = 0;

	rt_driver[0].cuDeviceGetAttribute(&value, (CUdevice_attribute)which, dev);
	return value;
}

static void limits(struct cudaDeviceProp *p, int dev)
{
	static const enum cudaDeviceAttr block[] = {
		cudaDevAttrMaxBlockDimX, cudaDevAttrMaxBlockDimY, cudaDevAttrMaxBlockDimZ,
	}, grid[] = { cudaDevAttrMaxGridDimX, cudaDevAttrMaxGridDimY, cudaDevAttrMaxGridDimZ };
	int i;

	p->maxThreadsPerBlock = attribute(cudaDevAttrMaxThreadsPerBlock, dev);
	for (i = 0; i < 3; i++) {
		p->maxThreadsDim[i] = attribute(block[i], dev);
		p->maxGridSize[i] = attribute(grid[i], dev);
	}
	p->sharedMemPerBlock = (size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlock, dev);
	p->sharedMemPerBlockOptin = (size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, dev);
	p->sharedMemPerMultiprocessor = (size_t)attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, dev);
	p->reservedSharedMemPerBlock = (size_t)attribute(cudaDevAttrReservedSharedMemoryPerBlock, dev);
	p->regsPerBlock = attribute(cudaDevAttrMaxRegistersPerBlock, dev);
	p->regsPerMultiprocessor = attribute(cudaDevAttrMaxRegistersPerMultiprocessor, dev);
	p->maxThreadsPerMultiProcessor = attribute(cudaDevAttrMaxThreadsPerMultiProcessor, dev);
	p->maxBlocksPerMultiProcessor = attribute(cudaDevAttrMaxBlocksPerMultiprocessor, dev);
	p->totalConstMem = (size_t)attribute(cudaDevAttrTotalConstantMemory, dev);
}

/* That of tests/clients, which fills the whole of NVIDIA's struct, takes its place. */
#pragma weak cudaGetDeviceProperties
RT_QUIET(cudaGetDeviceProperties)(struct cudaDeviceProp *p, int dev)
{
	cudaError_t r = rt_driver_load();
	int value;

	if (!r && !p)
		r = cudaErrorInvalidValue;
	if (!r)
		r = (cudaError_t)rt_driver[0].cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, dev);
	if (r)
		return rt_done(r);
	memset(p, 0, sizeof(*p));
	snprintf(p->name, sizeof(p->name), "Simulated GPU %d", dev);
	rt_driver[0].cuDeviceTotalMem_v2(&p->totalGlobalMem, dev);
	limits(p, dev);
	p->warpSize = value;
	p->memPitch = (size_t)attribute(cudaDevAttrMaxPitch, dev);
	p->major = attribute(cudaDevAttrComputeCapabilityMajor, dev);
	p->minor = attribute(cudaDevAttrComputeCapabilityMinor, dev);
	p->textureAlignment = (size_t)attribute(cudaDevAttrTextureAlignment, dev);
	p->texturePitchAlignment = 32;
	p->multiProcessorCount = attribute(cudaDevAttrMultiProcessorCount, dev);
	p->l2CacheSize = attribute(cudaDevAttrL2CacheSize, dev);
	p->memoryBusWidth = attribute(cudaDevAttrGlobalMemoryBusWidth, dev);
	p->pciBusID = attribute(cudaDevAttrPciBusId, dev);
	p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = p->managedMemory = 1;
	p->concurrentManagedAccess = p->cooperativeLaunch = p->streamPrioritiesSupported = 1;
	p->memoryPoolsSupported = p->hostRegisterSupported = p->asyncEngineCount = p->clusterLaunch = 1;
	return cudaSuccess;
}

RT_QUIET(cudaDeviceCanAccessPeer)(int *can, int dev, int peer)
{
	int count = 0;
	cudaError_t r = cudaGetDeviceCount(&count);

	if (r)
		return r;
	if (!can || dev < 0 || dev >= count || peer < 0 || peer >= count)
		return rt_done(can ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
	*can = dev != peer;
	return cudaSuccess;
}

/* All devices' memory is in one process: access is there before it is enabled. */
RT_QUIET(cudaDeviceEnablePeerAccess)(int peer, unsigned flags)
{
	int can = 0, dev = 0;
	cudaError_t r = flags ? cudaErrorInvalidValue : cudaGetDevice(&dev);

	if (!r)
		r = cudaDeviceCanAccessPeer(&can, dev, peer);
	return rt_done(r ? r : can ? cudaSuccess : cudaErrorInvalidDevice);
}

RT_QUIET(cudaDeviceDisablePeerAccess)(int peer)
{
	return cudaDeviceEnablePeerAccess(peer, 0);
}

RT_QUIET(cudaSetDeviceFlags)(unsigned flags)
{
	return rt_done(flags & ~cudaDeviceMask ? cudaErrorInvalidValue : cudaSuccess);
}

RT_QUIET(cudaDeviceGetStreamPriorityRange)(int *least, int *greatest)
{
	if (least)
		*least = 0;
	if (greatest)
		*greatest = -5;
	return rt_done(rt_driver_load());
}

RT_QUIET(cudaFuncSetCacheConfig)(const void *func, enum cudaFuncCache config)
{
	return rt_done(func && (unsigned)config <= cudaFuncCachePreferEqual ? rt_enter() : cudaErrorInvalidValue);
}

RT_QUIET(cudaStreamAttachMemAsync)(cudaStream_t stream, void *ptr, size_t size, unsigned flags)
{
	(void)stream, (void)size, (void)flags;
	return rt_done(ptr ? rt_enter() : cudaErrorInvalidValue);
}

RT_QUIET(cudaProfilerStart)(void)
{
	return rt_done(rt_enter());
}

RT_QUIET(cudaProfilerStop)(void)
{
	return rt_done(rt_enter());
}
#endif
