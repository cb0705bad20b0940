/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The simulated driver's inside. */
#ifndef TESTS_SIM_DRV_H
#define TESTS_SIM_DRV_H

#include <pthread.h>

#include "activity.h"
#include "sim.h"

/* Exports begin as NVIDIA's do on the machine: DRV_STUB(name) declares one, DRV_IMPL(name) is the function behind it. */
#include "tests/sim_driver.h"

/* DRV(name, (params), (args), trace format and values...) { body }; a context that has told of its fault does
 * no more, but what DRV_ANYWAY has.
 */
#define DRV_WRAP_IF(name, dead, body, params, args, ...) \
	DRV_STUB(name); \
	CUresult DRV_IMPL(name) params \
	{ \
		SIM_CALL("drv", name, dead ? drv_told() : body, args, __VA_ARGS__); \
		return (CUresult)ret; \
	}
#define DRV_WRAP(name, ...) DRV_WRAP_IF(name, unlikely(drv_faults) && drv_told(), __VA_ARGS__)
#define DRV_ANYWAY(name, params, args, ...) \
	static CUresult do_##name params; \
	DRV_WRAP_IF(name, 0, do_##name, params, args, __VA_ARGS__) \
	static CUresult do_##name params
#define DRV(name, params, args, ...) \
	static CUresult do_##name params; \
	DRV_WRAP(name, do_##name, params, args, __VA_ARGS__) \
	static CUresult do_##name params

/* The same twice: also under the name for the per-thread default stream. */
#define DRV_PT(name, suffix, params, args, ...) \
	static CUresult do_##name params; \
	DRV_WRAP(name, do_##name, params, args, __VA_ARGS__) \
	extern __typeof__(name) name##suffix; \
	DRV_WRAP(name##suffix, do_##name, params, args, __VA_ARGS__) \
	static CUresult do_##name params
#define DRV_PTDS(name, ...) DRV_PT(name, _ptds, __VA_ARGS__)
#define DRV_PTSZ(name, ...) DRV_PT(name, _ptsz, __VA_ARGS__)

/* Not traced, and not made to fail but by DRV_RULES: chatter. */
#define DRV_QUIET(name) \
	DRV_STUB(name); \
	CUresult DRV_IMPL(name)

/* In such a function: the environment's failures and latencies hold all the same. */
#define DRV_RULES(func) do { \
		static struct sim_call call = { .layer = "drv", .name = #func }; \
		int ret; \
		if (unlikely(sim_flags & SIM_RULES) && sim_before(&call, &ret)) \
			return (CUresult)ret; \
	} while (0)

enum { MAX_DEVICES = 8, HOST_SPACE = MAX_DEVICES, VMM_SPACE, NUM_SPACES };

struct CUctx_st {
	int dev, primary;
	unsigned refs;
	uint32_t id;		/* from 1 */
	CUresult fault;		/* of a kernel: nothing is done here any more */
	int told;		/* a call has returned it: all others will */
	struct CUctx_st *next;
};

extern HIDDEN int drv_devices;
extern HIDDEN size_t drv_memory;
extern HIDDEN pthread_mutex_t drv_lock;
HIDDEN CUcontext drv_current(void);
HIDDEN CUresult drv_check(void);	/* is there a context? */

/* Faults of kernels, as a GPU's: the next call that waits tells, and from then on every call. */
extern HIDDEN int drv_faults;			/* contexts that have one */
HIDDEN CUresult drv_told(void);			/* the current context's, if it was told */
HIDDEN CUresult drv_sync(void);			/* drv_check() of a call that waits */
HIDDEN void drv_fault(CUresult fault);		/* of the current context, untold */
HIDDEN void drv_fault_clear(CUcontext ctx);

/* Work that takes time: drv_work.c.  until: work up to that number, from drv_work_last(). */
extern HIDDEN int drv_works;			/* so much is not done */
HIDDEN uint64_t drv_work_last(void);
HIDDEN int drv_work_pending(CUstream stream, uint64_t until);
HIDDEN void drv_work_wait(CUstream stream, uint64_t until);
HIDDEN void drv_work_await(CUstream stream, CUstream of, uint64_t until);	/* stream waits for it */

/* What an address or a handle stands for. */
enum kind {
	K_DEVICE = 1, K_MANAGED = 2, K_HOST = 4, K_REGISTERED = 8, K_ARRAY = 16,
	K_MIPMAP = 32, K_RANGE = 64, K_HANDLE = 128, K_MAP = 256, K_IPC = 512,
	K_EXTERNAL = 1024, K_MODULE = 2048, K_TEXTURE = 4096,
};

struct pool;

struct block {
	struct block *next;		/* same hash bucket, or free list */
	uint64_t key;			/* address or handle */
	uint64_t addr;			/* where its memory is, 0: nowhere */
	size_t size, room;		/* asked for; taken from its space */
	enum kind kind;
	int space;			/* which space the memory is from */
	int charged;			/* device that pays for it, -1: none */
	unsigned refs;
	CUcontext ctx;
	struct pool *pool;
	struct block *target;		/* of a mapping: the handle */
	void *extra;			/* of an array: struct array; for free() */
};

/* All of these want drv_lock held. */
HIDDEN struct block *block_new(enum kind kind, int space, int charged, size_t size);
HIDDEN struct block *block_wrap(enum kind kind, uint64_t key, size_t size);
HIDDEN struct block *block_find(uint64_t key, unsigned kinds);
HIDDEN struct block *block_around(uint64_t addr, unsigned kinds);
HIDDEN struct block *block_like(unsigned kinds,
				int (*like)(const struct block *b, const void *what),
				const void *what);
HIDDEN void block_free(struct block *b);
HIDDEN void blocks_of_context_free(CUcontext ctx);
HIDDEN void blocks_each(unsigned kinds, void (*each)(const struct block *b, void *arg), void *arg);
extern HIDDEN uint64_t blocks_generation;	/* changes with each block */
HIDDEN void pool_put(struct pool *pool);
HIDDEN int drv_location(const CUmemLocation *location, int *dev);	/* 0: there is no such place */
HIDDEN size_t drv_used(int dev);
HIDDEN int space_holds(int space, uint64_t addr);

struct array {
	CUDA_ARRAY3D_DESCRIPTOR desc;
	size_t element, pitch, rows, layers;
	uint64_t addr;
	struct block *levels[16];
	unsigned num_levels;
};
HIDDEN struct array *array_get(CUarray handle);
HIDDEN CUresult array_create_levels(CUmipmappedArray *handle, const CUDA_ARRAY3D_DESCRIPTOR *desc,
				    unsigned levels);

struct CUstream_st {
	CUgraph capturing;
	uint32_t id;			/* 0: not asked for */
};
HIDDEN CUstream drv_stream(CUstream stream);	/* NULL for a context's default one, or 0 */

/* Work of a stream: run(args) is to be done, now or by a graph; args, of size bytes, are copied. */
typedef CUresult work_fn(void *args);
/* 1: the call became a graph's node, or nothing is done in this context any more.  activity: NULL if it has none */
HIDDEN int drv_capture(CUstream stream, const struct sim_activity *activity, work_fn *run, const void *args, size_t size);
#define IS_DEFAULT_STREAM(s) ((uintptr_t)(s) < 16)

/* What the simulated libcupti sees: drv_activity.c. */
extern HIDDEN sim_activity_hook *drv_activity;	/* NULL if there is none */
HIDDEN void drv_did(const struct sim_activity *activity, CUstream stream);
HIDDEN struct sim_activity drv_copy_activity(uint64_t dst, uint64_t src, size_t size);
HIDDEN void drv_graph_node(CUgraph graph, const struct sim_activity *activity);
HIDDEN void drv_graph_did(CUgraphExec exec, CUstream stream);
HIDDEN uint32_t drv_graph_id(void);
/* An activity is to be described only if so. */
static inline int drv_watched(CUstream stream)
{
	CUstream s;

	if (unlikely(drv_activity))
		return 1;
	s = drv_stream(stream);
	return s && s->capturing;
}

HIDDEN void drv_inject(void);			/* of cuInit() */

#endif
