/* SPDX-License-Identifier: GPL-2.0 */
/* The calls in flight, for user space to read when it reports: a program that runs over all threads.
 * It costs the traced programs nothing. */
#ifndef INFLIGHT_BPF_H
#define INFLIGHT_BPF_H
#include "lib/cuda.bpf.h"
#include "lib/inflight_device.bpf.h"
#include "lib/inflight_task.bpf.h"
#include "abi/inflight_call.h"

/* Set by user space: tell also of threads that have entered no call since tracing began. */
volatile bool inflight_all;

/* Static, as it does not fit the stack; user space reads one thread after the other. */
static struct inflight_call inflight_out;

/* Fills in id, start and stack.from of the thread's outermost call; false if it is in none. */
static __always_inline bool inflight_outermost(const struct thread *t, struct inflight_call *to)
{
	to->stack.from = *(volatile __u64 *)&t->call.sp;	/* first: see call_begin() */
	to->id = t->call.id;
	to->start = t->call.start;
	return to->stack.from;
}

/* A tool may define it for calls that it keeps elsewhere, or not all of which it wants, or whose devices it
 * knows: fills in these, device, peer and memory; false if the thread is in no call. */
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
	if (t ? !INFLIGHT_TAKE(task, t, r) : !inflight_all || task_is_kernel(task))
		return 0;
	r->preexisting = !t;
	r->tid = task->pid;
	r->switches = task_switches(task);
	for (int i = 0; i < 16; i++)
		r->comm[i] = task->comm[i];
	r->stack.head.pid = task->tgid;
	inflight_registers(task, &r->stack);
	bpf_seq_write(ctx->meta->seq, r, sizeof(*r));
	return 0;
}

#endif
