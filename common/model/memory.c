/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "model/memory_live.h"

struct mem_process *memory_processes;

static enum space space_of(unsigned char memory)
{
	return memory == CUDA_ARRAY ? SPACE_ARRAY : memory == CUDA_VMM ? SPACE_VMM : SPACE_ADDRESS;
}

const char *memory_name(unsigned char memory)
{
	static const char *const names[] = { NULL, "device", "managed", "host", "array", "pool",
					     "vmm", "ipc" };

	return memory < CUDA_MEMORY_MAX ? names[memory] : NULL;
}

static struct mem_process *process_of(int pid, const char *comm)
{
	struct mem_process *h;

	HASH_FIND_INT(memory_processes, &pid, h);
	if (!h) {
		h = xcalloc(1, sizeof(*h));
		h->pid = pid;
		HASH_ADD_INT(memory_processes, pid, h);
	}
	memcpy(h->comm, comm, sizeof(h->comm));
	h->comm[sizeof(h->comm) - 1] = 0;
	return h;
}

/* A thread that never chose a device works on the runtime's first. */
static unsigned long long place(const struct cuda_fn *fn, unsigned long long where)
{
	return where || fn->lib != CUDA_RT ? where : MEMORY_DEVICE;
}

static void saw_where(struct mem_process *h, unsigned long long where)
{
	int kind = !(where & MEMORY_DEVICE);

	if (!where || where == MEMORY_NOWHERE)
		return;
	if (h->first[kind] && h->first[kind] != where)
		h->several[kind] = true;
	h->first[kind] = h->first[kind] ? h->first[kind] : where;
}

static void allocate(struct mem_process *h, const struct memory_event *e, const struct cuda_fn *fn,
		     const struct stack *stack)
{
	unsigned char memory = fn->args.memory;
	enum space space = space_of(memory);
	struct allocation *l = allocation_find(h, e->ptr, space);

	if (l && space == SPACE_VMM && !e->size) {	/* cuMemRetainAllocationHandle */
		l->refs++;
		return;
	}
	/* A free that is not over yet, or was not seen, let the driver give the address out
	 * again.  If its record comes, late_free() knows it. */
	if (l) {
		h->replaced++;
		allocation_drop(h, l);
	}
	/* an address for external memory, which its import has counted, has no size */
	l = allocation_add(h, e->ptr, space, fn->args.ptr && fn->args.handle ? 0 : e->size);
	if (!l)
		return;
	l->time = e->time;
	l->location = place(fn, e->location);
	l->stack = stack;
	l->tid = e->tid;
	l->id = e->head.kind;
	l->memory = memory;
	l->refs = 1;
}

/* A free that began before the allocation at its address was made, freed an earlier one. */
static bool late_free(struct mem_process *h, const struct allocation *l, const struct memory_event *e)
{
	if (!l || l->time <= e->start)
		return false;
	if (h->replaced)
		h->replaced--;
	return true;
}

/* Of memory that another process made, only its import may tell the size. */
static unsigned long long known_size(unsigned char memory, unsigned long long size)
{
	return size || memory != CUDA_IPC ? size : ~0ull;
}

static struct memory_effect release(struct mem_process *h, const struct memory_event *e,
				    unsigned char memory)
{
	struct memory_effect done = { h, CUDA_MEM_NONE, ~0ull };
	struct allocation *l = allocation_find(h, e->ptr, space_of(memory));

	if (!e->ptr || late_free(h, l, e))
		return done;
	if (!l) {
		h->unknown++;
		return done;
	}
	done.memory = l->memory;
	done.size = known_size(l->memory, l->size);
	if (!--l->refs)
		allocation_drop(h, l);
	return done;
}

static void forget_map(struct mem_process *h, struct map *m)
{
	struct allocation *l = m->handle ? allocation_find(h, m->handle, SPACE_VMM) : NULL;

	if (l && !--l->refs)
		allocation_drop(h, l);
	map_drop(h, m);
}

static void map(struct mem_process *h, const struct memory_event *e)
{
	struct map *m = map_find(h, e->ptr);
	struct allocation *l;

	if (m)			/* its end was not seen */
		forget_map(h, m);
	l = allocation_find(h, e->arg2, SPACE_VMM);
	m = map_add(h, e->ptr);
	if (!m)
		return;
	m->size = e->size;
	m->handle = l ? e->arg2 : 0;
	if (l)
		l->refs++;
}

/* The range may be that of several mappings, one behind the other. */
static void unmap(struct mem_process *h, const struct memory_event *e)
{
	unsigned long long at = e->ptr, end = e->ptr + e->size;

	while (at < end) {
		struct map *m = map_find(h, at);

		if (!m || !m->size)
			return;		/* made before the tool began */
		at += m->size;
		forget_map(h, m);
	}
}

enum answer { NO, YES, MAYBE };

/* Was memory that was made in one place freed with another?  A device and a context may be
 * the same place; so may a place that was not seen. */
static enum answer same_place(const struct mem_process *h, unsigned long long a, unsigned long long b)
{
	bool known = a > MEMORY_NOWHERE && b > MEMORY_NOWHERE;

	if (a == b && known)
		return YES;
	if (known && (a & MEMORY_DEVICE) == (b & MEMORY_DEVICE))
		return NO;
	return h->several[0] || h->several[1] ? MAYBE : YES;
}

/* A context or device and its memory are gone; but "will not destroy memory allocations by
 * cuMemCreate(), cuMemAllocAsync() and cuMemAllocFromPoolAsync()" (cuda.h, cuCtxDestroy;
 * cuda_runtime_api.h says the same of cudaDeviceReset). */
static struct memory_effect reset(struct mem_process *h, const struct memory_event *e,
				  const struct cuda_fn *fn)
{
	struct memory_effect done = { h, CUDA_MEM_NONE, 0 };
	unsigned long long what = place(fn, e->arg2);
	struct allocation *l, *next;

	saw_where(h, what);
	HASH_ITER(hh, h->allocations, l, next) {
		bool stays = l->memory == CUDA_VMM || l->memory == CUDA_POOL;
		enum answer same = stays ? NO : same_place(h, l->location, what);

		if (same == MAYBE && !l->unsure) {
			l->unsure = true;
			h->unsure++;
		}
		if (same != YES)
			continue;
		done.size += l->size;
		allocation_drop(h, l);
	}
	return done;
}

struct mem_process *memory_process(const struct process_event *e)
{
	return process_of(e->head.pid, e->comm);
}

struct memory_effect memory_apply(const struct memory_event *e, const struct stack *stack)
{
	struct memory_effect done = { process_of(e->head.pid, e->comm), CUDA_MEM_NONE, ~0ull };
	const struct cuda_fn *fn = &cuda_fns[e->head.kind];

	saw_where(done.process, place(fn, e->location));
	if (fn->class == CUDA_ALLOC) {
		done.memory = fn->args.memory;
		done.size = known_size(fn->args.memory, e->size);
		if (!e->ret && e->ptr)
			allocate(done.process, e, fn, stack);
	} else if (!e->ret && fn->class == CUDA_FREE) {
		done = release(done.process, e, fn->args.memory);
	} else if (!e->ret && fn->class == CUDA_MAP) {
		map(done.process, e);
	} else if (!e->ret && fn->class == CUDA_UNMAP) {
		unmap(done.process, e);
	} else if (!e->ret && fn->class == CUDA_RESET) {
		done = reset(done.process, e, fn);
	}
	return done;
}

void memory_forget(struct mem_process *h)
{
	struct allocation *l, *next_live;
	struct map *m, *next_map;

	HASH_ITER(hh, h->allocations, l, next_live)
		allocation_drop(h, l);
	HASH_ITER(hh, h->maps, m, next_map)
		map_drop(h, m);
	HASH_DEL(memory_processes, h);
	free(h);
}
