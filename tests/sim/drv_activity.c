/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: what it tells the simulated libcupti, and the libraries it loads for CUDA_INJECTION64_PATH. */
#include <dlfcn.h>
#include <stdlib.h>

#include "drv_graph.h"
#include "drv_module.h"

sim_activity_hook *drv_activity;
static uint32_t last_node, last_graph, last_stream = 12;

EXPORTED void sim_activity_set(sim_activity_hook *hook)
{
	__atomic_store_n(&drv_activity, hook, __ATOMIC_RELEASE);
}

uint32_t drv_graph_id(void)
{
	return __atomic_add_fetch(&last_graph, 1, __ATOMIC_RELAXED);
}

/* As in CUPTI's records: a context's default stream is 7 in each, the others begin at 13. */
static uint32_t stream_id(CUstream stream)
{
	enum { DEFAULT = 7 };
	CUstream s = drv_stream(stream);

	if (s && !s->id)
		s->id = __atomic_add_fetch(&last_stream, 1, __ATOMIC_RELAXED);
	return s ? s->id : DEFAULT;
}

static void call_hook(const struct sim_activity *activity, CUstream stream, uint32_t graph)
{
	sim_activity_hook *hook = __atomic_load_n(&drv_activity, __ATOMIC_ACQUIRE);
	CUcontext ctx = drv_current();
	struct sim_activity a = *activity;

	if (!hook || !ctx)
		return;
	if (a.kind == SIM_KERNEL)
		a.name = ((CUfunction)a.function)->kernel->name;
	hook(&a, &(struct sim_place) { (uint32_t)ctx->dev, ctx->id, stream_id(stream), graph });
}

void drv_did(const struct sim_activity *activity, CUstream stream)
{
	if (unlikely(drv_activity))
		call_hook(activity, stream, 0);
}

void drv_graph_node(CUgraph graph, const struct sim_activity *activity)
{
	struct stream_call call = { .activity = *activity };

	call.activity.node = __atomic_add_fetch(&last_node, 1, __ATOMIC_RELAXED);
	if (graph_calls_add(&graph->calls, &call, 1))
		abort();
}

void drv_graph_did(CUgraphExec exec, CUstream stream)
{
	const struct stream_calls *calls = &exec->calls;

	if (!unlikely(drv_activity))
		return;
	call_hook(&(struct sim_activity) { .kind = SIM_GRAPH_BEGIN }, stream, exec->id);
	for (unsigned i = 0; i < calls->n; i++)
		if (!calls->list[i].run)
			call_hook(&calls->list[i].activity, stream, exec->id);
	call_hook(&(struct sim_activity) { .kind = SIM_GRAPH_END }, stream, exec->id);
}

static enum sim_memory memory_at(uint64_t addr, uint32_t *device)
{
	struct block *b = block_around(addr, K_DEVICE | K_MANAGED | K_HOST | K_REGISTERED | K_ARRAY | K_MIPMAP | K_MAP | K_IPC);

	if (!b)
		return SIM_PAGEABLE;
	if (b->kind & (K_HOST | K_REGISTERED))
		return SIM_PINNED;
	*device = b->space < MAX_DEVICES ? (uint32_t)b->space : b->charged >= 0 ? (uint32_t)b->charged : *device;
	return b->kind == K_MANAGED ? SIM_MANAGED : b->kind & (K_ARRAY | K_MIPMAP) ? SIM_ARRAY : SIM_DEVICE;
}

struct sim_activity drv_copy_activity(uint64_t dst, uint64_t src, size_t size)
{
	uint32_t own = drv_current() ? (uint32_t)drv_current()->dev : 0;
	struct sim_activity a = { .kind = SIM_COPY, .bytes = size, .devices = { own, own } };

	pthread_mutex_lock(&drv_lock);
	a.from = memory_at(src, &a.devices[0]);
	a.to = memory_at(dst, &a.devices[1]);
	pthread_mutex_unlock(&drv_lock);
	if (a.devices[0] != a.devices[1] && a.from == SIM_DEVICE && a.to == SIM_DEVICE)
		a.kind = SIM_PEER_COPY;
	return a;
}

/* Once, whatever thread comes first; the library may itself call cuInit().  A library that cannot be loaded is passed over in
 * silence, as by NVIDIA's driver, and what InitializeInjection() returns is not looked at. */
void drv_inject(void)
{
	static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
	static int done;
	const char *path = getenv("CUDA_INJECTION64_PATH");
	int (*initialize)(void);
	void *library;

	if (__atomic_load_n(&done, __ATOMIC_ACQUIRE) || !path || !*path)
		return;
	pthread_mutex_lock(&lock);
	if (!done) {
		done = 1;
		library = dlopen(path, RTLD_NOW);
		*(void **)&initialize = library ? dlsym(library, "InitializeInjection") : NULL;
		if (initialize)
			initialize();
	}
	pthread_mutex_unlock(&lock);
}
