/* SPDX-License-Identifier: GPL-2.0 */
/* The calls in flight: a program over all threads, which user space runs when it reports.  It costs the traced programs
 * nothing. */
#ifndef LIB_INFLIGHT_BPF_H
#define LIB_INFLIGHT_BPF_H
#include "lib/cuda.bpf.h"
#include "lib/task.bpf.h"
#include "abi/inflight_call.h"

/* ---- the device of a call of another thread: as lib/device.bpf.h, but changes nothing */

static __always_inline struct device_handles *inflight_handles(const struct task_struct *task)
{
	return bpf_task_storage_get(&device_handles, task->group_leader, NULL, 0);
}

/* As device_here(). */
static __always_inline __u32 inflight_here(const struct task_struct *task, const struct device_thread *d,
					  const struct device_handles *h)
{
	if (!d->device && !d->place && (task->start_time >= device_state.since || !handles_may_lack(task, h)))
		return 1;
	return d->device;
}

/* The device of a context or stream of the thread's process. */
static __always_inline __u32 inflight_handle(const struct task_struct *task, __u64 handle)
{
	return handle_find(inflight_handles(task), handle) & (HANDLE_PRIMARY - 1);
}

/* As device_in(); 0 if the tool does not follow devices. */
static __always_inline __u32 inflight_in(const struct task_struct *task, const struct device_thread *d,
					__u64 stream)
{
	struct device_handles *h = inflight_handles(task);
	__u32 here = inflight_here(task, d, h);

	if (device_state.since == ~0ull)
		return 0;
	if (stream <= STREAMS_DEFAULT)
		return here;
	if (!handles_may_lack(task, h) && !(h && h->devices & ~device_bit(here)))
		return here;
	return handle_find(h, stream) & (HANDLE_PRIMARY - 1);
}

/* The argument that is the call's stream or context.  ~0, which is no handle, if it is on the thread's stack, which
 * cannot be read from here. */
static __always_inline __u64 inflight_stream(const struct call *call)
{
	__u64 id = call->id;
	unsigned char pos;

	if (id >= CUDA_ID_MAX)
		return 0;
	id = bounded(id, CUDA_ID_MAX - 1);
	pos = cuda_rows[id].stream ?: cuda_rows[id].ctx;
	return pos <= CALL_REGISTERS ? call->args[bounded(pos, CALL_REGISTERS)] : ~0ull;
}

/* ---- the calls */

/* Set by user space: report also threads that have entered no call since tracing began. */
volatile bool inflight_all;

/* … or the threads of this process alone, whatever they do; 0: of all. */
volatile int inflight_of;

/* It does not fit the stack; user space reads one thread after the other. */
static struct inflight_call inflight_out;

/* Fills in id, start and stack.from of the thread's outermost call; false if it is in none. */
static __always_inline bool inflight_outermost(const struct thread *t, struct inflight_call *to)
{
	to->stack.from = *(volatile __u64 *)&t->call.sp;	/* first: see call_begin() */
	ordered();
	to->id = t->call.id;
	to->start = t->call.start;
	return to->stack.from;
}

#ifndef INFLIGHT_TAKE
#define INFLIGHT_TAKE inflight_take
static __always_inline bool inflight_take(const struct task_struct *task, const struct thread *t,
					 struct inflight_call *to)
{
	to->device = inflight_in(task, &t->device, inflight_stream(&t->call));
	return inflight_outermost(t, to);
}
#endif

SEC("iter/task") int inflight_calls(struct bpf_iter__task *ctx)
{
	struct inflight_call *r = &inflight_out;
	struct task_struct *task = ctx->task;
	struct thread *t;

	if (!task)
		return 0;
	t = bpf_task_storage_get(&threads, task, NULL, 0);
	__builtin_memset(r, 0, sizeof(*r));
	if (inflight_of && task->tgid != inflight_of)
		return 0;
	if (!inflight_of && (t ? !INFLIGHT_TAKE(task, t, r) : !inflight_all || task_is_kernel(task)))
		return 0;
	r->preexisting = !t;
	r->tid = task->pid;
	r->switches = task_switches(task);
	r->self = task_self(task);
	for (int i = 0; i < 16; i++)
		r->comm[i] = task->comm[i];
	r->stack.head.pid = task->tgid;
	inflight_registers(task, &r->stack);
	bpf_seq_write(ctx->meta->seq, r, sizeof(*r));
	return 0;
}

#endif
