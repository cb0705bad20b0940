/* SPDX-License-Identifier: GPL-2.0 */
/* Time of launching and copying threads between these calls: when they left the CPU and came back, and samples while they run,
 * with their stacks (abi/host_time.h).
 *
 * The program at a switch runs with the lock of the CPU's queue held: it must allocate nothing, as that may wake a thread.
 * Before Linux 6.1 hash maps allocate, and programs of perf events may not use those that do: user space then loads
 * neither program (tools/cudalaunchtop/host_threads.c).
 *
 * Both programs may interrupt a program at a probe, in the middle of the thread's buffers: busy is set there. */
#ifndef LIB_HOST_TIME_BPF_H
#define LIB_HOST_TIME_BPF_H
#include "lib/stack.bpf.h"
#include "abi/host_time.h"

/* Of a thread; starts zeroed. */
struct host_thread {
	struct host_time record;	/* from is 0: none waits to be sent; to is 0: the thread is not back yet */
	machine_regs regs;
	__u64 ran, delay;		/* task_ran() and task_run_delay() at record.from */
	__u64 called;			/* the last launch or copy, ns; 0: there was none */
	bool busy;
};

static __always_inline bool host_follows(const struct host_thread *h, __u64 now)
{
	return h->called && !h->busy && now - h->called < HOST_FOLLOWED_NS;
}

static __always_inline void host_send(struct host_thread *h)
{
	records_send(&h->record, offsetof(struct host_time, stack) + stack_bytes(h->record.head.frames), false);
}

/* A thread that was woken, too, waits for a CPU at the end of its time off it. */
static __always_inline void host_send_off(struct host_thread *h)
{
	__u64 delay = task_run_delay((void *)bpf_get_current_task()) - h->delay;
	struct host_time *r = &h->record;
	__u64 to = r->to;

	if (r->head.kind == HOST_OFF_CPU && delay >= HOST_SHORT_NS && delay < to - r->from) {
		r->to -= delay;
		host_send(h);
		r->head.kind = HOST_PREEMPTED;
		r->from = r->to;
		r->to = to;
	}
	host_send(h);
}

/* Call when the thread runs, or leaves the CPU.  As in lib/off_cpu.bpf.h, its return may be unreported. */
static __always_inline void host_back(struct host_thread *h, __u64 now)
{
	struct host_time *r = &h->record;
	__u64 away, on;

	if (!r->from)
		return;
	away = now - r->from;
	on = task_ran((void *)bpf_get_current_task()) - h->ran;
	if (!r->to)
		r->to = now - (on < away ? on : away);
	if (r->to > r->from && r->to - r->from >= HOST_SHORT_NS)
		host_send_off(h);
	r->from = 0;
}

static __always_inline void host_begin(struct host_thread *h, __u32 what, __u64 now)
{
	struct host_time *r = &h->record;

	r->head.pid = thread_pid();
	r->head.kind = what;
	r->from = r->to = now;
	r->tid = bpf_get_current_pid_tgid();
	r->own_tid = thread_own_id();
}

/* Call where the thread is at the entry of a copy or memset; sp: its stack pointer. */
static __always_inline void host_call(struct pt_regs *ctx, struct host_thread *h, __u64 sp, __u64 now)
{
	host_begin(h, HOST_CALL, now);
	h->record.head.frames = stack_take(ctx, h->record.stack, sp);
	host_send(h);
	h->record.from = 0;
}

/* Call where the thread leaves the CPU … */
static __always_inline void host_leaves(void *ctx, struct host_thread *h, struct task_struct *task, __u64 now)
{
	if (!host_follows(h, now))
		return;
	host_back(h, now);
	host_begin(h, task_is_runnable(task) ? HOST_PREEMPTED : HOST_OFF_CPU, now);
	h->record.to = 0;
	h->ran = task_ran(task);
	h->delay = task_run_delay(task);
	thread_registers(&h->regs);
	h->record.head.frames = stack_take_user(ctx, &h->regs, h->record.stack);
}

/* … and where it is next on it. */
static __always_inline void host_returns(struct host_thread *h, __u64 now)
{
	if (h->record.from && !h->record.to)
		h->record.to = now;
}

/* Call where the running thread is interrupted. */
static __always_inline void host_sampled(void *ctx, struct host_thread *h, __u64 now)
{
	__u64 *first = h->record.stack;

	if (!host_follows(h, now))
		return;
	host_back(h, now);
	host_begin(h, HOST_RUNNING, now);
	thread_registers(&h->regs);
	h->record.head.frames = stack_take_user(ctx, &h->regs, first);
	if (!(*first & (FRAME_PYTHON | FRAME_NOTE)))
		*first |= FRAME_EXACT;
	host_send(h);
	h->record.from = 0;
}

#endif
