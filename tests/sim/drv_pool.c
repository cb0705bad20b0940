/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: stream-ordered allocations, memory pools, and virtual memory. */
#include <stdlib.h>
#include <string.h>

#include "drv.h"

struct pool {
	int dev, is_default;
	unsigned refs;		/* its allocations, and one while it is not destroyed */
	cuuint64_t threshold;
};

static struct pool defaults[MAX_DEVICES];
static struct pool *current[MAX_DEVICES];

static struct pool *default_pool(int dev)
{
	defaults[dev].dev = dev;
	defaults[dev].is_default = 1;
	return &defaults[dev];
}

static int bad_device(int dev)
{
	return dev < 0 || dev >= drv_devices;
}

void pool_put(struct pool *pool)
{
	if (--pool->refs == 0 && !pool->is_default)
		free(pool);
}

static CUresult pool_alloc(CUdeviceptr *ptr, size_t size, struct pool *pool)
{
	CUresult r = drv_check();
	struct block *b;

	if (r)
		return r;
	if (!ptr)
		return CUDA_ERROR_INVALID_VALUE;
	if (!size) {
		*ptr = 0;
		return CUDA_SUCCESS;
	}
	pthread_mutex_lock(&drv_lock);
	if (!pool)
		pool = current[drv_current()->dev];
	if (!pool)
		pool = default_pool(drv_current()->dev);
	b = block_new(K_DEVICE, pool->dev < 0 ? HOST_SPACE : pool->dev, pool->dev, size);
	if (b) {
		b->pool = pool;
		pool->refs++;
		*ptr = b->key;
	}
	pthread_mutex_unlock(&drv_lock);
	return b ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

DRV_PTSZ(cuMemAllocAsync, (CUdeviceptr *ptr, size_t size, CUstream stream), (ptr, size, stream),
	 "%zu 0x%lx", size, OUT(ptr))
{
	(void)stream;
	return pool_alloc(ptr, size, NULL);
}

/* The memory is there from now on, and stays: the real one has it while the graph's launches use it. */
DRV_QUIET(cuGraphAddMemAllocNode)(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t num_after,
				  CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
	CUresult r = params ? cuGraphAddEmptyNode(node, graph, after, num_after) : CUDA_ERROR_INVALID_VALUE;

	return r ? r : pool_alloc(&params->dptr, params->bytesize, NULL);
}

DRV_QUIET(cuGraphAddMemFreeNode)(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t num_after, CUdeviceptr ptr)
{
	return ptr ? cuGraphAddEmptyNode(node, graph, after, num_after) : CUDA_ERROR_INVALID_VALUE;
}

DRV_PTSZ(cuMemAllocFromPoolAsync,
	 (CUdeviceptr *ptr, size_t size, CUmemoryPool pool, CUstream stream),
	 (ptr, size, pool, stream), "%zu 0x%lx 0x%lx", size, P(pool), OUT(ptr))
{
	(void)stream;
	return pool ? pool_alloc(ptr, size, (struct pool *)pool) : CUDA_ERROR_INVALID_VALUE;
}

DRV_PTSZ(cuMemFreeAsync, (CUdeviceptr ptr, CUstream stream), (ptr, stream), "0x%lx", P(ptr))
{
	struct block *b;

	(void)stream;
	if (!ptr)
		return CUDA_SUCCESS;
	pthread_mutex_lock(&drv_lock);
	b = block_find(ptr, K_DEVICE);
	if (b)
		block_free(b);
	pthread_mutex_unlock(&drv_lock);
	return b ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

DRV(cuMemPoolCreate, (CUmemoryPool *pool, const CUmemPoolProps *props), (pool, props),
    "0x%lx", OUT(pool))
{
	struct pool *p;

	int dev;

	if (!pool || !props || !drv_location(&props->location, &dev))
		return CUDA_ERROR_INVALID_VALUE;
	p = calloc(1, sizeof(*p));
	if (!p)
		return CUDA_ERROR_OUT_OF_MEMORY;
	p->dev = dev;
	p->refs = 1;
	*pool = (CUmemoryPool)p;
	return CUDA_SUCCESS;
}

/* As CUDA's manual has it: its allocations live until each is freed. */
DRV(cuMemPoolDestroy, (CUmemoryPool pool), (pool), "0x%lx", P(pool))
{
	struct pool *p = (struct pool *)pool;

	if (!p || p->is_default)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&drv_lock);
	if (p->dev >= 0 && current[p->dev] == p)
		current[p->dev] = NULL;
	pool_put(p);
	pthread_mutex_unlock(&drv_lock);
	return CUDA_SUCCESS;
}

DRV_QUIET(cuMemPoolSetAttribute)(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
	if (!pool || !value)
		return CUDA_ERROR_INVALID_VALUE;
	if (attr == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
		((struct pool *)pool)->threshold = *(cuuint64_t *)value;
	return CUDA_SUCCESS;
}

DRV_QUIET(cuMemPoolGetAttribute)(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
	if (!pool || !value)
		return CUDA_ERROR_INVALID_VALUE;
	*(cuuint64_t *)value = attr == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD ?
		((struct pool *)pool)->threshold : 0;
	return CUDA_SUCCESS;
}

DRV_QUIET(cuMemPoolTrimTo)(CUmemoryPool pool, size_t keep)
{
	(void)keep;
	return pool ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

DRV_QUIET(cuMemPoolSetAccess)(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
	return pool && (map || !count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

DRV_QUIET(cuDeviceGetDefaultMemPool)(CUmemoryPool *pool, CUdevice dev)
{
	if (!pool || bad_device(dev))
		return CUDA_ERROR_INVALID_VALUE;
	*pool = (CUmemoryPool)default_pool(dev);
	return CUDA_SUCCESS;
}

DRV_QUIET(cuDeviceGetMemPool)(CUmemoryPool *pool, CUdevice dev)
{
	if (!pool || bad_device(dev))
		return CUDA_ERROR_INVALID_VALUE;
	*pool = (CUmemoryPool)(current[dev] ? current[dev] : default_pool(dev));
	return CUDA_SUCCESS;
}

DRV_QUIET(cuDeviceSetMemPool)(CUdevice dev, CUmemoryPool pool)
{
	if (!pool || bad_device(dev))
		return CUDA_ERROR_INVALID_VALUE;
	current[dev] = (struct pool *)pool;
	return CUDA_SUCCESS;
}
