/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "proc/users.h"
#include "cudatrace/trace.h"
#include "cudatrace/trace_bytes.h"
#include "cudatrace/trace_held.h"

/* The device or context that a thread uses: see PLACE_DEVICE. */
struct held_thread {
	struct { int pid, tid; } key;
	unsigned user;
	unsigned long long location;
	UT_hash_handle hh;
};

enum { THREAD_COST = sizeof(struct held_thread) + 32 };

#define HELD_CLASSES (MEMORY_CLASSES | 1 << CUDA_CTX)

struct trace_held trace_held_init(void)
{
	return (struct trace_held){
		.memory = MEMORY_INIT,
		.quota = {
			.limit = 4 << 20, .what = "threads with a device",
			.loss = "resets in further ones are taken to be of all devices",
		},
	};
}

bool trace_held_by(const struct cuda_proto *proto)
{
	const struct cuda_fn *fn = trace_role(proto);

	return fn && cuda_fn_in(fn, HELD_CLASSES);
}

static struct held_thread *find(const struct trace_held *h, int pid, int tid)
{
	struct held_thread want, *thread;

	memset(&want, 0, sizeof(want));
	want.key.pid = pid;
	want.key.tid = tid;
	HASH_FIND(hh, h->threads, &want.key, sizeof(want.key), thread);
	return thread;
}

static void set_location(struct trace_held *h, int pid, int tid, unsigned long long location)
{
	struct held_thread *thread = find(h, pid, tid);
	unsigned user;

	if (!thread) {
		user = users_of(h->users, pid);
		if (!quota_take(&h->quota, user, pid, THREAD_COST))
			return;
		thread = xcalloc(1, sizeof(*thread));
		thread->key.pid = pid;
		thread->key.tid = tid;
		thread->user = user;
		HASH_ADD(hh, h->threads, key, sizeof(thread->key), thread);
	}
	thread->location = location;
}

static unsigned long long device(unsigned long long n)
{
	return PLACE_DEVICE | (unsigned)n;
}

/* As device_switched() of bpf/lib/device.bpf.h, but what cuCtxPopCurrent() uncovers is not followed. */
static unsigned long long chosen(const struct cuda_args *row, const struct memory_event *m)
{
	if (row->dev && !row->ctx)
		return device(m->arg2);
	return row->stack == CUDA_POP ? PLACE_UNKNOWN : m->ptr;
}

/* Fills in what the probes of cudaleak would have recorded. */
static struct memory_event event_of(const struct trace_held *h, const struct trace_call *call,
				    const struct cuda_fn *fn)
{
	const struct trace_event *e = call->event;
	const struct cuda_args *row = &fn->args;
	const struct held_thread *thread = find(h, e->head.pid, e->tid);
	struct memory_event m = {
		.head = { .pid = e->head.pid, .kind = fn - cuda_fns }, .time = e->time, .start = e->start,
		.ptr = trace_word(call, row->ptr ?: row->handle ?: row->ctx),
		.size = trace_bytes(call, row), .tid = e->tid, .location = thread ? thread->location : 0,
		.arg2 = trace_word(call, row->ptr ? row->handle : row->dev),
	};

	memcpy(m.comm, e->comm, sizeof(m.comm));
	if (fn->class == CUDA_RESET)
		m.arg2 = row->ctx ? m.ptr : row->dev ? device(m.arg2) : m.location;
	if (row->out && !trace_pointed(call, row->out, 0, &m.ptr, sizeof(m.ptr)))
		m.ptr = 0;
	return m;
}

struct mem_process *trace_held_call(struct trace_held *h, const struct trace_call *call)
{
	const struct trace_event *e = call->event;
	const struct cuda_fn *fn = trace_role(call->proto);
	struct memory_event m;

	if (!fn || !cuda_fn_in(fn, HELD_CLASSES) || e->inner || e->head.kind != TRACE_CALL || (int)e->ret)
		return NULL;
	m = event_of(h, call, fn);
	if (fn->class != CUDA_CTX)
		return memory_apply(&h->memory, &m, NULL).process;
	if (fn->args.stack != CUDA_KEEP)
		set_location(h, e->head.pid, e->tid, chosen(&fn->args, &m));
	return NULL;
}

void trace_held_forget(struct trace_held *h, int pid)
{
	const struct process_event gone = { .head.pid = pid };
	struct held_thread *thread, *next;

	memory_forget(memory_process(&h->memory, &gone));
	HASH_ITER(hh, h->threads, thread, next) {
		if (pid >= 0 && thread->key.pid != pid)
			continue;
		HASH_DEL(h->threads, thread);
		quota_give(&h->quota, thread->user, THREAD_COST);
		free(thread);
	}
}

void trace_held_free(struct trace_held *h)
{
	trace_held_forget(h, -1);
	memory_free(&h->memory);
	quota_free(&h->quota);
}
