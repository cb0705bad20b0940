/* SPDX-License-Identifier: GPL-2.0 */
/* What every tool's probes start with: the thread's call in flight. */
#ifndef CUDA_BPF_H
#define CUDA_BPF_H
#include "lib/call.bpf.h"

/* A tool may define before, as a type, THREAD_DATA: what else it keeps of a thread. */
struct thread {
	struct call call;	/* the outermost that it is in */
	__u64 program;		/* what it runs, see processes.bpf.h; 0 = not looked up */
	__u32 pid;		/* its process, if program is known */
#ifdef THREAD_DATA
	THREAD_DATA data;
#endif
};

/* From Linux 6.19 on task storage has at most 8 KiB with a header of its own: 8096 bytes can be
 * had, 8208 cannot (tried on 6.19, 7.2 and 7.3). */
#define FITS_TASK_STORAGE(type) _Static_assert(sizeof(type) <= 8000, "too large for task storage")
FITS_TASK_STORAGE(struct thread);

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

/* A tool may define it as what is to be done with a call inside the one in flight. */
#ifndef CUDA_NESTED
#define CUDA_NESTED(ctx, t, id) ((void)0)
#endif

/* The calling thread's state, made the first time. */
static __always_inline struct thread *thread_here(void)
{
	struct thread *t = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), NULL,
						BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!t)
		lose(LOST_THREAD);
	return t;
}

/* The calling thread's state; NULL if it has none. */
static __always_inline struct thread *thread_known(void)
{
	return bpf_task_storage_get(&threads, bpf_get_current_task_btf(), NULL, 0);
}

/* Or as those whose start is of interest: reading the clock is a quarter of a probe's work. */
#ifndef CUDA_TIMED
#define CUDA_TIMED(id) true
#endif

static __always_inline bool call_begin(struct pt_regs *ctx, struct thread *t, __u64 id)
{
	__u64 sp = PT_REGS_SP(ctx);

	if (t->call.sp) {
		/* the same stack: the traced function jumped to another one at its end */
		if (sp <= t->call.sp && is_armed(t->call.sp)) {
			CUDA_NESTED(ctx, t, id);
			return false;
		}
		lose(LOST_RETURN);
	}
	t->call.sp = sp;
	t->call.id = id;
	keep_arguments(&t->call, ctx);
	t->call.start = CUDA_TIMED(id) ? bpf_ktime_get_ns() : 0;
	return true;
}

/* To be called at the entry: sets all of the thread's new call but the data, and the id of the
 * function, good as an index.  False if this call is part of one that is already counted. */
static __always_inline bool call_enter(struct pt_regs *ctx, struct thread *t, __u64 *id)
{
	__u64 which = cuda_id(ctx);

	if (which >= CUDA_ID_MAX || !call_begin(ctx, t, which))
		return false;
	barrier_var(which);	/* the verifier wants the value that is used to be the one checked */
	if (which >= CUDA_ID_MAX)
		return false;
	*id = which;
	return true;
}

/* At a return: true if it is of the thread's call in flight.  It has popped the return address. */
static __always_inline bool call_ends(struct pt_regs *ctx, const struct thread *t)
{
	return t->call.sp && PT_REGS_SP(ctx) == t->call.sp + 8;
}

/* Where the thread's program is replaced: a call that it is in never returns. */
static __always_inline void call_dropped(struct thread *t)
{
	if (t->call.sp)
		lose(LOST_RETURN);
	t->call.sp = 0;
}

enum { SIGNAL_GROUP_EXIT = 4 };	/* include/linux/sched/signal.h */

/* Where a thread ends: a call that it is in never returns.  But if all of its process ends, by
 * exit() or a signal, it was only under way, as any may be. */
static __always_inline void call_left(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = bpf_task_storage_get(&threads, task, NULL, 0);

	if (t && !(BPF_CORE_READ(task, signal, flags) & SIGNAL_GROUP_EXIT))
		call_dropped(t);
}

/* In a session program: is this the return?  The place of the probe is told at both, and at an
 * entry the thread is there.  bpf_session_is_return() would say so too, but its signature differs
 * between kernels (6.13 to 6.19 and 7.0). */
static __always_inline bool session_returns(struct pt_regs *ctx)
{
	return bpf_get_func_ip(ctx) != PT_REGS_IP(ctx);
}

/* Defines the programs for each attach kind from a tool's two functions:
 * enter(ctx, thread) returns true if the return is wanted; leave(ctx, thread). */
#define CUDA_PROGRAMS(enter, leave)						\
SEC("uprobe") int cuda_enter(struct pt_regs *ctx)				\
{										\
	struct thread *t = thread_here();					\
										\
	if (t)									\
		enter(ctx, t);							\
	return 0;								\
}										\
SEC("uprobe") int cuda_return(struct pt_regs *ctx)				\
{										\
	struct thread *t = thread_here();					\
										\
	if (t && call_ends(ctx, t))						\
		leave(ctx, t);							\
	return 0;								\
}										\
/* 1 from an entry: do not arm the return */					\
SEC("uprobe") int cuda_session(struct pt_regs *ctx)				\
{										\
	struct thread *t = thread_here();					\
										\
	if (!t)									\
		return 1;							\
	if (!call_ends(ctx, t) || !session_returns(ctx))			\
		return !enter(ctx, t);						\
	leave(ctx, t);								\
	return 0;								\
}										\
SEC("raw_tp/sched_process_exit") int thread_exit(void *ctx)			\
{										\
	call_left();								\
	return 0;								\
}

#endif
