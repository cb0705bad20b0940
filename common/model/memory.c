/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include <sys/random.h>
#include "abi/inflight_call.h"
#include "model/graphs.h"
#include "model/memory.h"
#include "proc/process_table.h"
#include "proc/user.h"

const char *memory_name(unsigned char kind)
{
	static const char *const names[] = { NULL, "device", "managed", "host", "array", "pool",
					     "vmm", "ipc", "tensor", "module", "stream", "event", "graph", "exec", "context",
					     "texture", "surface", "mempool", "cublas", "cudnn", "cusolver", "cusparse" };

	return kind < CUDA_MEMORY_MAX ? names[kind] : NULL;
}

const char *memory_name_more(const char *name)
{
	return strncmp(name, "cu", 2) ? "" : " handle";
}

/* Returns NULL if its user has too much. */
static struct mem_process *process_new(struct memory *memory, int pid)
{
	unsigned user = proc_user(pid);
	struct mem_process *process;

	if (!quota_take(&memory->quota, user, pid, mem_cost(sizeof(*process))))
		return NULL;
	process = xcalloc(1, sizeof(*process));
	process->model = memory;
	process->pid = pid;
	process->user = user;
	process->groups = (struct mem_sites){ .quota = &memory->quota, .user = user, .pid = pid, .handles = memory->handles };
	process->preexisting = memory->table && process_is_preexisting(memory->table, pid);
	HASH_ADD_INT(memory->processes, pid, process);
	return process;
}

static struct mem_process *process_of(struct memory *memory, int pid, const char *comm)
{
	struct mem_process *process = memory->last;

	if (!process || process->pid != pid)
		HASH_FIND_INT(memory->processes, &pid, process);
	if (!process)
		process = process_new(memory, pid);
	if (!process)
		return NULL;
	memory->last = process;
	memcpy(process->comm, comm, sizeof(process->comm));
	process->comm[sizeof(process->comm) - 1] = 0;
	return process;
}

/* A thread that never chose a device uses the runtime's first one. */
static unsigned long long place(const struct cuda_fn *fn, unsigned long long where)
{
	return where || fn->lib != CUDA_RT ? where : PLACE_DEVICE;
}

static void saw_where(struct mem_process *process, unsigned long long where)
{
	int kind = !(where & PLACE_DEVICE);

	if (!where || where == PLACE_UNKNOWN)
		return;
	if (process->first[kind] && process->first[kind] != where)
		process->several[kind] = true;
	process->first[kind] = process->first[kind] ? process->first[kind] : where;
}

/* Return true if the function returns an address or array in external memory: its import has
 * counted the bytes. */
static bool in_external(const struct cuda_fn *fn)
{
	return fn->args.ptr && fn->args.handle;
}

static void memory_export(struct mem_process *process, const struct memory_event *event)
{
	struct allocation *allocation = allocation_find(process, event->ptr, SPACE_ADDRESS);

	if (allocation && event->arg2)
		allocation_export(process, allocation, event->arg2);
}

/* Bytes of an allocation; 0: unknown. */
static unsigned long long size_of(const struct memory *memory, const struct memory_event *event, const struct cuda_fn *fn)
{
	const struct exported *exported = fn->args.ipc ? exported_of(memory, event->arg2) : NULL;

	return exported ? exported->size : event->size;
}

/* Only the import of memory that another process allocated may give its size. */
static unsigned long long known_size(const struct cuda_fn *fn, unsigned long long size)
{
	return size || (fn->args.memory != CUDA_IPC && !in_external(fn)) ? size : ~0ull;
}

static bool has_size(const struct cuda_fn *fn)
{
	return fn->args.size || fn->args.shape;
}

static bool one_in(unsigned n)
{
	unsigned number = 0;

	return getrandom(&number, sizeof(number), 0) != sizeof(number) || !(number % n);
}

/* Return true if the options leave out this allocation, which is no further reference to a recorded
 * one.  What cuMemRetainAllocationHandle refers to was then left out, too. */
static bool left_out(const struct memory_filter *filter, const struct memory_event *event,
		     const struct cuda_fn *fn)
{
	if (!filter->any || has_size(fn))
		return false;
	return event->head.kind == CUDA_ID_cuMemRetainAllocationHandle || filter->min ||
	       (filter->sample > 1 && !one_in(filter->sample));
}

/* Pinned memory of the host is of no device. */
static unsigned memory_device_of(unsigned char kind, unsigned device)
{
	return kind == CUDA_HOST ? DEVICE_NONE : device;
}

/* Return true if the memory is on a device that is not wanted. */
static bool elsewhere(const struct memory_filter *filter, unsigned device)
{
	return filter->devices && !device_is_in(filter->devices, device);
}

/* The device's primary context: each call returns the same one. */
static bool is_primary(const struct memory_event *event)
{
	return event->head.kind == CUDA_ID_cuDevicePrimaryCtxRetain;
}

/* What has to be reset for the allocation to be gone. */
static unsigned long long location_of(const struct memory_event *event, const struct cuda_fn *fn)
{
	if (is_primary(event) && event->device)
		return PLACE_DEVICE | (event->device - 1);
	return fn->args.memory == CUDA_CONTEXT_HANDLE ? event->ptr : place(fn, event->location);
}

/* Sets *device if it is another reference to memory whose device is known.  Returns false if the allocation is left out. */
static bool memory_allocate(struct mem_process *process, const struct memory_event *event,
		     const struct cuda_fn *fn, const struct stack *stack, unsigned *device)
{
	unsigned char kind = fn->args.memory;
	struct allocation *allocation = allocation_find(process, event->ptr, space_of(kind));

	/* cudaStreamBeginCaptureToGraph() has named the graph, which was made before */
	if (allocation && fn->args.op == CUDA_END)
		return true;
	if (allocation && fn->args.counted && (kind < CUDA_CODE || is_primary(event))) {
		allocation->refs++;
		*device = allocation->group->key.device;
		return true;
	}
	/* it may be from before tracing began */
	if (is_primary(event) && process->preexisting)
		return false;
	if (left_out(&process->model->filter, event, fn) ||
	    elsewhere(&process->model->filter, memory_device_of(kind, event->device)))
		return false;
	/* A free that has not returned yet, or was not seen, let the driver return the address
	 * again.  If its record still comes, free_is_late() recognizes it. */
	if (allocation) {
		if (kind != CUDA_CODE || process->groups.handles)
			allocation_replaced(process, allocation, event->time);
		allocation_drop(process, allocation);
	}
	allocation = allocation_add(process, event->ptr, kind, memory_device_of(kind, event->device), stack,
				    in_external(fn) ? 0 : size_of(process->model, event, fn));
	if (!allocation)
		return true;
	allocation->time = event->time;
	allocation->location = location_of(event, fn);
	allocation->tid = event->tid;
	allocation->id = event->head.kind;
	allocation->refs = 1;
	return true;
}

/* A free that started before the allocation at its address was made, or before one that is freed already, freed an earlier
 * one. */
static bool free_is_late(struct mem_process *process, const struct allocation *allocation, unsigned long long ptr,
			 enum space space, unsigned long long start)
{
	if (allocation && allocation->time <= start)
		return false;
	return free_was_owed(process, ptr, space, start) || allocation;
}

static struct memory_effect release(struct mem_process *process, const struct memory_event *event,
				    unsigned char kind)
{
	struct memory_effect done = { process, CUDA_MEM_NONE, ~0ull, event->device, false };
	const enum space space = space_of(kind);
	struct allocation *allocation = allocation_find(process, event->ptr, space);

	if (!event->ptr || free_is_late(process, allocation, event->ptr, space, event->start))
		return done;
	if (!allocation) {	/* code is also loaded where it is not looked for */
		process->unknown += kind != CUDA_CODE || process->groups.handles;
		return done;
	}
	done.memory = allocation->group->key.memory;
	done.device = allocation->group->key.device;
	done.size = known_size(&cuda_fns[allocation->id], allocation->size);
	if (!--allocation->refs)
		allocation_drop(process, allocation);
	return done;
}

static void forget_mapping(struct mem_process *process, struct vmm_mapping *mapping)
{
	struct allocation *allocation = NULL;

	if (mapping->handle)
		allocation = allocation_find(process, mapping->handle, SPACE_VMM);
	if (allocation && !--allocation->refs)
		allocation_drop(process, allocation);
	vmm_mapping_drop(process, mapping);
}

static void map(struct mem_process *process, const struct memory_event *event)
{
	struct vmm_mapping *mapping = vmm_mapping_find(process, event->ptr);
	struct allocation *allocation;

	if (mapping)			/* its unmap was not seen */
		forget_mapping(process, mapping);
	allocation = allocation_find(process, event->arg2, SPACE_VMM);
	mapping = vmm_mapping_add(process, event->ptr);
	if (!mapping)
		return;
	mapping->size = event->size;
	mapping->handle = allocation ? event->arg2 : 0;
	if (!allocation)
		return;
	allocation->refs++;
	if (cuda_fns[allocation->id].args.anywhere && allocation->size < event->size)	/* an import does not know its size */
		allocation_resize(process, allocation, event->size);
}

/* The range may cover several adjacent mappings. */
static void unmap(struct mem_process *process, const struct memory_event *event)
{
	unsigned long long at = event->ptr, end = event->ptr + event->size;

	while (at < end) {
		struct vmm_mapping *mapping = vmm_mapping_find(process, at);

		if (!mapping || !mapping->size)
			return;		/* made before the tool began */
		at += mapping->size;
		forget_mapping(process, mapping);
	}
}

enum answer { NO, YES, MAYBE };

/* Return YES if memory allocated in place a is freed with place b.  A device and a context may be
 * the same place; so may a place that was not seen.  They are if the process has been seen from its start
 * and uses no other. */
static enum answer same_place(const struct mem_process *process, unsigned long long a,
			      unsigned long long b)
{
	bool known = a > PLACE_UNKNOWN && b > PLACE_UNKNOWN;

	if (a == b && known)
		return YES;
	if (known && (a & PLACE_DEVICE) == (b & PLACE_DEVICE))
		return NO;
	return process->several[0] || process->several[1] || process->preexisting ? MAYBE : YES;
}

/* Memory outside of any context: cuCtxDestroy's manual lists what is in one.  Handles of libraries are to be destroyed even then. */
static bool stays(unsigned char kind)
{
	return kind == CUDA_VMM || kind == CUDA_POOL || kind == CUDA_TENSOR || kind == CUDA_GRAPH_HANDLE ||
	       kind == CUDA_EXEC_HANDLE || kind >= CUDA_MEMPOOL_HANDLE;
}

/* A context or device and its memory are gone; but this "will not destroy memory allocations by
 * cuMemCreate(), cuMemAllocAsync() and cuMemAllocFromPoolAsync()" (cuda.h, cuCtxDestroy;
 * cuda_runtime_api.h says the same of cudaDeviceReset). */
static struct memory_effect reset(struct mem_process *process, const struct memory_event *event,
				  const struct cuda_fn *fn)
{
	struct memory_effect done = { process, CUDA_MEM_NONE, 0, event->device, false };
	unsigned long long what = place(fn, event->arg2);
	/* no device's primary one */
	const bool made = allocation_find(process, what, space_of(CUDA_CONTEXT_HANDLE));
	struct allocation *allocation, *next;

	saw_where(process, what);
	mem_device_unlimit(&process->groups, event->device);
	HASH_ITER(hh, process->allocations, allocation, next) {
		unsigned char kind = allocation->group->key.memory;
		bool other = kind == CUDA_CONTEXT_HANDLE ? allocation->location != what :
			     made && allocation->location & PLACE_DEVICE;
		enum answer same = stays(kind) || other ? NO : same_place(process, allocation->location, what);

		if (same == MAYBE && !allocation->unsure) {
			allocation->unsure = true;
			process->unsure++;
		}
		if (same != YES)
			continue;
		done.size += kind >= CUDA_CODE ? 0 : allocation->size;
		allocation_drop(process, allocation);
	}
	return done;
}

struct mem_process *memory_process(const struct memory *memory, const struct process_event *event)
{
	struct mem_process *process;
	int pid = event->head.pid;

	HASH_FIND_INT(memory->processes, &pid, process);
	return process;
}

bool memory_event_is_right(const void *record, size_t size)
{
	const struct memory_event *e = record;

	return !record_is_process_event(&e->head) && record_is_whole(&e->head, size, offsetof(struct memory_event, stack)) &&
	       e->head.kind < CUDA_ID_MAX && !e->comm[sizeof(e->comm) - 1];
}

struct memory_effect memory_apply(struct memory *memory, const struct memory_event *event,
				  const struct stack *stack)
{
	struct memory_effect done = {
		process_of(memory, event->head.pid, event->comm), CUDA_MEM_NONE, ~0ull, event->device, false,
	};
	const struct cuda_fn *fn = &cuda_fns[event->head.kind];

	if (fn->class == CUDA_ALLOC) {
		done.memory = fn->args.memory;
		done.size = known_size(fn, size_of(memory, event, fn));
		done.device = memory_device_of(done.memory, event->device);
	}
	if (!done.process)
		return done;
	saw_where(done.process, place(fn, event->location));
	if (event->captured)
		return done;
	if (fn->class == CUDA_ALLOC) {
		if (!event->ret && event->ptr)
			done.left_out = !memory_allocate(done.process, event, fn, stack, &done.device);
	} else if (!event->ret && fn->class == CUDA_FREE) {
		done = release(done.process, event, fn->args.memory);
	} else if (!event->ret && fn->class == CUDA_MAP && fn->args.ipc) {
		memory_export(done.process, event);
	} else if (!event->ret && fn->class == CUDA_MAP) {
		map(done.process, event);
	} else if (!event->ret && fn->class == CUDA_UNMAP) {
		unmap(done.process, event);
	} else if (!event->ret && fn->class == CUDA_RESET) {
		done = reset(done.process, event, fn);
	} else if (!event->ret && fn->class == CUDA_LIMIT) {
		mem_device_limit(&done.process->groups, event->device, event->ptr, event->size);
	} else if (!event->ret && fn->args.memory >= CUDA_CODE) {
		if (!cuda_fn_makes_handle(fn))
			done = release(done.process, event, fn->args.memory);
		else if (event->ptr)
			done.left_out = !memory_allocate(done.process, event, fn, stack, &done.device);
	}
	return done;
}

static bool keeps(const struct memory_filter *f, unsigned long long size, unsigned device)
{
	return size >= f->min && (!f->max || size <= f->max) && !elsewhere(f, device) && (f->sample < 2 || one_in(f->sample));
}

static void node_allocates(struct memory_replay *r, const struct graph_work *w)
{
	struct allocation *allocation = allocation_find(r->process, w->func, SPACE_ADDRESS);
	const unsigned device = w->device ? w->device : r->device;

	if (graph_content_has(r->content, NODE_FREE, w->func)) {
		r->temporary += w->bytes;
		return;
	}
	if (allocation || !keeps(&r->process->model->filter, w->bytes, device))
		return;
	r->allocs++;
	allocation = allocation_add(r->process, w->func, CUDA_POOL, device, r->made, w->bytes);
	if (!allocation)
		return;
	allocation->time = r->time;
	allocation->tid = r->pid;
	allocation->id = CUDA_ID_cudaGraphLaunch;
	allocation->refs = 1;
}

static void node_frees(struct memory_replay *r, const struct graph_work *w)
{
	struct allocation *allocation = allocation_find(r->process, w->func, SPACE_ADDRESS);

	if (graph_content_has(r->content, NODE_ALLOC, w->func))
		return;
	r->frees++;
	if (free_is_late(r->process, allocation, w->func, SPACE_ADDRESS, r->start))
		return;
	if (allocation)
		allocation_drop(r->process, allocation);
	else
		r->process->unknown++;
}

void memory_replay(struct memory *memory, struct memory_replay *r)
{
	r->process = process_of(memory, r->pid, r->comm);
	for (size_t i = 0; r->process && i < r->content->n; i++) {
		const struct graph_work *w = &r->content->all[i];

		if (w->kind == NODE_ALLOC && w->func)
			node_allocates(r, w);
		else if (w->kind == NODE_FREE && w->func)
			node_frees(r, w);
	}
	if (r->process)
		mem_device_replayed(&r->process->groups, r->device, r->temporary);
}

unsigned int memory_call_device(const struct memory *memory, const struct inflight_call *call)
{
	const struct cuda_fn *fn = cuda_fn_of(call->id);
	const struct allocation *allocation;
	struct mem_process *process;
	int pid = call->stack.head.pid;

	if (fn->class == CUDA_ALLOC)
		return memory_device_of(fn->args.memory, call->device);
	HASH_FIND_INT(memory->processes, &pid, process);
	if (!process || fn->class != CUDA_FREE)
		return call->device;
	allocation = allocation_find(process, call->memory, space_of(fn->args.memory));
	return allocation ? allocation->group->key.device : call->device;
}

void memory_forget(struct mem_process *process)
{
	struct allocation *allocation, *next_allocation;
	struct vmm_mapping *mapping, *next_mapping;

	if (!process)
		return;
	HASH_ITER(hh, process->allocations, allocation, next_allocation)
		allocation_drop(process, allocation);
	HASH_ITER(hh, process->mappings, mapping, next_mapping)
		vmm_mapping_drop(process, mapping);
	owed_frees_drop(process);
	mem_sites_free(&process->groups);
	HASH_DEL(process->model->processes, process);
	if (process->model->last == process)
		process->model->last = NULL;
	quota_give(&process->model->quota, process->user, mem_cost(sizeof(*process)));
	free(process);
}

void memory_ended(void *memory, const struct process_event *event)
{
	memory_forget(memory_process(memory, event));
}

void memory_mark(struct memory *memory, enum mem_snapshot mark)
{
	struct mem_process *process;

	for (process = memory->processes; process; process = process->hh.next)
		mem_sites_mark(&process->groups, mark);
}

void memory_free(struct memory *memory)
{
	struct mem_process *process, *next;

	HASH_ITER(hh, memory->processes, process, next)
		memory_forget(process);
	quota_free(&memory->quota);
}
