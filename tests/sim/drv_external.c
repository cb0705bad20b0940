/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: memory of other processes and APIs, by IPC handles and external memory. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drv.h"

/* A handle says who exported what. What is opened is memory of that size, not
 * the exporter's; unlike a GPU's driver, the exporter may open it itself.
 */
struct ipc {
	uint64_t magic, ptr, size;
	int pid;
};
#define IPC_MAGIC 0x6d69732d637069ULL

DRV_QUIET(cuIpcGetMemHandle)(CUipcMemHandle *handle, CUdeviceptr ptr)
{
	struct ipc ipc;
	struct block *b;

	memset(&ipc, 0, sizeof(ipc));
	ipc.magic = IPC_MAGIC;
	ipc.ptr = ptr;
	ipc.pid = (int)getpid();
	pthread_mutex_lock(&drv_lock);
	b = block_find(ptr, K_DEVICE);
	if (b)
		ipc.size = b->size;
	pthread_mutex_unlock(&drv_lock);
	if (!handle || !b)
		return CUDA_ERROR_INVALID_VALUE;
	memset(handle, 0, sizeof(*handle));
	memcpy(handle, &ipc, sizeof(ipc));
	return CUDA_SUCCESS;
}

static int is_open(const struct block *b, const void *ipc)
{
	return b->ctx == drv_current() && !memcmp(b->extra, ipc, sizeof(struct ipc));
}

/* Opened again, it gets another reference (cuda.h). With drv_lock held. */
static struct block *open_block(const struct ipc *ipc)
{
	struct block *b = block_like(K_IPC, is_open, ipc);

	if (b) {
		b->refs++;
		return b;
	}
	b = block_new(K_IPC, VMM_SPACE, -1, ipc->size);
	if (!b)
		return NULL;
	b->extra = malloc(sizeof(*ipc));
	if (!b->extra)
		abort();
	memcpy(b->extra, ipc, sizeof(*ipc));
	return b;
}

DRV(cuIpcOpenMemHandle_v2, (CUdeviceptr *ptr, CUipcMemHandle handle, unsigned flags),
    (ptr, handle, flags), "0x%lx", OUT(ptr))
{
	CUresult r = drv_check();
	struct block *b;
	struct ipc ipc;

	(void)flags;
	memcpy(&ipc, &handle, sizeof(ipc));
	if (r)
		return r;
	if (!ptr || ipc.magic != IPC_MAGIC)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&drv_lock);
	b = open_block(&ipc);
	if (b)
		*ptr = b->key;
	pthread_mutex_unlock(&drv_lock);
	return b ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

DRV(cuIpcCloseMemHandle, (CUdeviceptr ptr), (ptr), "0x%lx", P(ptr))
{
	struct block *b;

	pthread_mutex_lock(&drv_lock);
	b = block_find(ptr, K_IPC);
	if (b && !--b->refs)
		block_free(b);
	pthread_mutex_unlock(&drv_lock);
	return b ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

DRV(cuImportExternalMemory,
    (CUexternalMemory *memory, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc), (memory, desc),
    "%llu 0x%lx", desc ? desc->size : 0, OUT(memory))
{
	CUresult r = drv_check();
	struct block *b;

	if (r)
		return r;
	if (!memory || !desc || !desc->size)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&drv_lock);
	b = block_new(K_EXTERNAL, VMM_SPACE, -1, desc->size);
	if (b)
		*memory = (CUexternalMemory)(uintptr_t)b->key;
	pthread_mutex_unlock(&drv_lock);
	return b ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* What is mapped is an array of its own. */
DRV(cuExternalMemoryGetMappedMipmappedArray,
    (CUmipmappedArray *array, CUexternalMemory memory,
     const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc), (array, memory, desc),
    "0x%lx 0x%lx", P(memory), OUT(array))
{
	struct block *b;

	pthread_mutex_lock(&drv_lock);
	b = block_find(P(memory), K_EXTERNAL);
	pthread_mutex_unlock(&drv_lock);
	if (!b || !desc)
		return CUDA_ERROR_INVALID_VALUE;
	return array_create_levels(array, &desc->arrayDesc, desc->numLevels);
}

DRV(cuDestroyExternalMemory, (CUexternalMemory memory), (memory), "0x%lx", P(memory))
{
	struct block *b;

	pthread_mutex_lock(&drv_lock);
	b = block_find(P(memory), K_EXTERNAL);
	if (b)
		block_free(b);
	pthread_mutex_unlock(&drv_lock);
	return b ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
