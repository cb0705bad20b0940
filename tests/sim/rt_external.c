/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runtime: memory of other processes and APIs. */
#include <string.h>

#include "rt.h"

RT(cudaIpcGetMemHandle, (cudaIpcMemHandle_t *handle, void *ptr), (handle, ptr),
   "0x%lx", P(ptr))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuIpcGetMemHandle((CUipcMemHandle *)handle, (CUdeviceptr)(uintptr_t)ptr);
}

RT(cudaIpcOpenMemHandle, (void **ptr, cudaIpcMemHandle_t handle, unsigned flags),
   (ptr, handle, flags), "0x%lx", OUT(ptr))
{
	pt_none;
	CUipcMemHandle h;

	RT_ENTER();
	memcpy(&h, &handle, sizeof(h));
	return (cudaError_t)D->cuIpcOpenMemHandle_v2((CUdeviceptr *)ptr, h, flags);
}

RT(cudaIpcCloseMemHandle, (void *ptr), (ptr), "0x%lx", P(ptr))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuIpcCloseMemHandle((CUdeviceptr)(uintptr_t)ptr);
}

RT(cudaImportExternalMemory,
   (cudaExternalMemory_t *memory, const struct cudaExternalMemoryHandleDesc *desc),
   (memory, desc), "%llu 0x%lx", desc ? desc->size : 0, OUT(memory))
{
	pt_none;
	CUDA_EXTERNAL_MEMORY_HANDLE_DESC d;

	RT_ENTER();
	if (!desc)
		return cudaErrorInvalidValue;
	memset(&d, 0, sizeof(d));
	d.type = (CUexternalMemoryHandleType)desc->type;
	d.handle.fd = desc->handle.fd;
	d.size = desc->size;
	return (cudaError_t)D->cuImportExternalMemory((CUexternalMemory *)memory, &d);
}

RT(cudaExternalMemoryGetMappedMipmappedArray,
   (cudaMipmappedArray_t *array, cudaExternalMemory_t memory,
    const struct cudaExternalMemoryMipmappedArrayDesc *desc), (array, memory, desc),
   "0x%lx 0x%lx", P(memory), OUT(array))
{
	pt_none;
	CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d;

	RT_ENTER();
	if (!desc)
		return cudaErrorInvalidValue;
	memset(&d, 0, sizeof(d));
	rt_describe(&d.arrayDesc, &desc->formatDesc, desc->extent.width, desc->extent.height,
		    desc->extent.depth, desc->flags);
	d.numLevels = desc->numLevels;
	return (cudaError_t)D->cuExternalMemoryGetMappedMipmappedArray((CUmipmappedArray *)array,
		(CUexternalMemory)memory, &d);
}

RT(cudaDestroyExternalMemory, (cudaExternalMemory_t memory), (memory), "0x%lx", P(memory))
{
	pt_none;
	RT_ENTER();
	return (cudaError_t)D->cuDestroyExternalMemory((CUexternalMemory)memory);
}
