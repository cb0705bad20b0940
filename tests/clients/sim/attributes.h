/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The members of cudaDeviceProp that are attributes of a device, each with its attribute. */
#ifndef TESTS_CLIENTS_SIM_ATTRIBUTES_H
#define TESTS_CLIENTS_SIM_ATTRIBUTES_H

#define PROPERTIES(X) \
	X(sharedMemPerBlock, MaxSharedMemoryPerBlock) \
	X(regsPerBlock, MaxRegistersPerBlock) \
	X(warpSize, WarpSize) \
	X(memPitch, MaxPitch) \
	X(maxThreadsPerBlock, MaxThreadsPerBlock) \
	X(maxThreadsDim[0], MaxBlockDimX) \
	X(maxThreadsDim[1], MaxBlockDimY) \
	X(maxThreadsDim[2], MaxBlockDimZ) \
	X(maxGridSize[0], MaxGridDimX) \
	X(maxGridSize[1], MaxGridDimY) \
	X(maxGridSize[2], MaxGridDimZ) \
	X(totalConstMem, TotalConstantMemory) \
	X(major, ComputeCapabilityMajor) \
	X(minor, ComputeCapabilityMinor) \
	X(textureAlignment, TextureAlignment) \
	X(texturePitchAlignment, TexturePitchAlignment) \
	X(multiProcessorCount, MultiProcessorCount) \
	X(integrated, Integrated) \
	X(canMapHostMemory, CanMapHostMemory) \
	X(concurrentKernels, ConcurrentKernels) \
	X(pciBusID, PciBusId) \
	X(asyncEngineCount, AsyncEngineCount) \
	X(unifiedAddressing, UnifiedAddressing) \
	X(memoryBusWidth, GlobalMemoryBusWidth) \
	X(l2CacheSize, L2CacheSize) \
	X(maxThreadsPerMultiProcessor, MaxThreadsPerMultiProcessor) \
	X(streamPrioritiesSupported, StreamPrioritiesSupported) \
	X(sharedMemPerMultiprocessor, MaxSharedMemoryPerMultiprocessor) \
	X(regsPerMultiprocessor, MaxRegistersPerMultiprocessor) \
	X(managedMemory, ManagedMemory) \
	X(concurrentManagedAccess, ConcurrentManagedAccess) \
	X(cooperativeLaunch, CooperativeLaunch) \
	X(sharedMemPerBlockOptin, MaxSharedMemoryPerBlockOptin) \
	X(maxBlocksPerMultiProcessor, MaxBlocksPerMultiprocessor) \
	X(reservedSharedMemPerBlock, ReservedSharedMemoryPerBlock) \
	X(hostRegisterSupported, HostRegisterSupported) \
	X(memoryPoolsSupported, MemoryPoolsSupported)

#endif
