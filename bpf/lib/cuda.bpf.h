/* SPDX-License-Identifier: GPL-2.0 */
/* For all tools: the thread's call in flight. */
#ifndef LIB_CUDA_BPF_H
#define LIB_CUDA_BPF_H
#include "abi/bpf_names.h"
#include "abi/call_filter.h"
#include "lib/call.bpf.h"
#include "lib/device.bpf.h"
#include "lib/hooks.bpf.h"
#include "lib/generation.bpf.h"
#include "lib/task.bpf.h"

/* Set by the tool.  All zero, the functions below cost nothing. */
const volatile struct filter filter SEC(SECTION_FILTER);

NOINLINE_IN_USER bool task_passes(void)
{
	if (filter.by_uid && (__u32)bpf_get_current_uid_gid() != filter.uid)
		return false;
	if (filter.cgroup && !process_is_in_cgroup(filter.level, filter.cgroup))
		return false;
	return !filter.by_comm || process_comm_is(filter.comm, FILTER_COMM);
}

/* Return true if the calling thread's calls are to be recorded. */
static __always_inline bool task_wanted(void)
{
	return !(filter.by_uid || filter.cgroup || filter.by_comm) || task_passes();
}

struct thread {
	struct call call;	/* the outermost one that it is in */
	__u64 program;		/* the one it runs, see processes.bpf.h; 0 = not looked up */
	__u32 pid;		/* its process, if program is known */
	struct device_thread device;
#ifdef THREAD_DATA
	THREAD_DATA data;
#endif
};

BPF_TASK_STORAGE(threads, struct thread)

/* Call when the thread has changed its call: with --attach inject, others read a copy.  sp is set last: a reader finds a
 * complete call. */
static __always_inline void call_show(const struct thread *t)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct call *shown = storage_shown(&threads, task, &t->call);

	if (!shown)
		return;
	if (t->call.sp)
		storage_show_part(&shown->start, &t->call.start, sizeof(t->call) - offsetof(struct call, start));
	ordered();
	storage_show_part(&shown->sp, &t->call.sp, sizeof(t->call.sp));
}

/* The same for its device, which was this before. */
static __always_inline void device_show_changed(const struct thread *t, __u64 place, __u32 device)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();

	if (t->device.place == place && t->device.device == device)
		return;
	storage_show(&threads, task, &t->device.place, sizeof(t->device.place));
	storage_show(&threads, task, &t->device.device, sizeof(t->device.device));
}

/* The calling thread's state, created on first use. */
static __always_inline struct thread *thread_here(void)
{
	struct thread *t = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), NULL,
						BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!t)
		lose(LOST_THREAD);
	return t;
}

/* The same at a probe; NULL also if this link does not count there. */
static __always_inline struct thread *thread_at(struct pt_regs *ctx)
{
	return link_counts(ctx) ? thread_here() : NULL;
}

/* The calling thread's state; NULL if it has none. */
static __always_inline struct thread *thread_known(void)
{
	return bpf_task_storage_get(&threads, bpf_get_current_task_btf(), NULL, 0);
}

/* Return true if the call that is entered is part of the thread's call in flight. */
NOINLINE_IN_USER bool call_nested(struct pt_regs *ctx, struct thread *t, __u64 id)
{
	/* the same stack: the traced function ended with a jump to another one */
	if (PT_REGS_SP(ctx) <= t->call.sp && is_armed(t->call.sp)) {
		if (CUDA_NESTED(ctx, t, id))
			call_show(t);
		return true;
	}
	lose(LOST_RETURN);
	return false;
}

static __always_inline bool call_begin(struct pt_regs *ctx, struct thread *t, __u64 id)
{
	__u64 sp = PT_REGS_SP(ctx);

	if (t->call.sp && call_nested(ctx, t, id))
		return false;
	t->call.id = id;
	keep_arguments(&t->call, ctx);
	t->call.start = CUDA_TIMED(id) ? bpf_ktime_get_ns() : 0;
	write_ordered(&t->call.sp, sp);	/* lib/inflight.bpf.h reads sp first: a call that it sees has a start */
	return true;
}

/* Call at the entry: sets all of the thread's new call but the data, and the id of the function,
 * safe as an index.  Returns false if this call is part of one that is already
 * counted, or of a process that is not wanted. */
static __always_inline bool call_enter(struct pt_regs *ctx, struct thread *t, __u64 *id)
{
	__u64 which = cuda_id(ctx);

	if (which >= CUDA_ID_MAX || !task_wanted() || !call_begin(ctx, t, which))
		return false;
	*id = checked(which, CUDA_ID_MAX - 1);
	return true;
}

/* Return true at the return of the thread's call in flight. */
static __always_inline bool call_ends(struct pt_regs *ctx, const struct thread *t)
{
	return call_returns(ctx, t->call.sp);
}

/* Call where the thread's program is replaced: the call it is in never returns. */
static __always_inline void call_dropped(struct thread *t)
{
	if (t->call.sp)
		lose(LOST_RETURN);
	t->call.sp = 0;
	device_dropped(&t->device);
}

/* Call where a thread ends: its call never returns.  If its whole process ends, by exit() or a signal, the call was merely in
 * flight. */
static __always_inline void call_left(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = bpf_task_storage_get(&threads, task, NULL, 0);

	if (t && !process_exits(task))
		call_dropped(t);
}

/* Return true in a session program if this is the return.  The address of the probe is known at
 * both, and at an entry the thread is at it.  The signature of bpf_session_is_return() differs between
 * kernels (6.13 to 6.19 and 7.0). */
static __always_inline bool session_returns(struct pt_regs *ctx)
{
	return bpf_get_func_ip(ctx) != PT_REGS_IP(ctx);
}

/* The stack at the entry of the runtime's function that the thread is in; 0 also if the tool does not trace it. */
static __always_inline __u64 runtime_entered(const struct thread *t)
{
	__u64 id = t->call.id;

	return id < CUDA_ID_MAX && cuda_libs[bounded(id, CUDA_ID_MAX - 1)] == CUDA_RT ? t->call.sp : 0;
}

/* Call at every entry with the id of the function.  Sets *wanted if the return is needed to follow
 * devices; returns true if the function is probed only for that. */
static __always_inline bool entered_for_device(struct pt_regs *ctx, struct thread *t, bool *wanted)
{
	__u64 id = cuda_id(ctx);

	*wanted = false;
	if (id >= CUDA_ID_MAX)
		return true;
	id = checked(id, CUDA_ID_MAX - 1);
	if (cuda_classes[id] == CUDA_WAIT)
		CUDA_STREAM_ENDS(ctx, t);
	*wanted = device_enter(ctx, &t->device, id);
	return device_alone(id);
}

/* Call at every return, after the tool. */
static __always_inline void left_for_device(struct pt_regs *ctx, struct thread *t)
{
	if (device_ends(ctx, &t->device))
		device_leave(ctx, &t->device, runtime_entered(t));
}

/* The same in a session program: at the return of a call that began at this link, it counts. */
static __always_inline struct thread *thread_in_session(struct pt_regs *ctx)
{
	if (link_counts(ctx))
		return thread_here();
	return session_returns(ctx) ? thread_known() : NULL;
}

/* Defines the programs for each attach kind from two functions of the tool: enter(ctx, thread),
 * which returns true if the return is wanted, and leave(ctx, thread). */
#define CUDA_PROGRAMS(enter, leave)						\
SEC("uprobe") int cuda_enter(struct pt_regs *ctx)				\
{										\
	struct thread *t = thread_at(ctx);					\
	bool device;								\
										\
	if (t) {								\
		CUDA_HIT(t);							\
		(void)CUDA_ENTERS(ctx, t);					\
	}									\
	if (t && !CUDA_USDT_ENTER(ctx, t) && !entered_for_device(ctx, t, &device))	\
		enter(ctx, t);							\
	if (t)									\
		CUDA_HIT_ENDS(t);						\
	return 0;								\
}										\
SEC("uprobe") int cuda_return(struct pt_regs *ctx)				\
{										\
	struct thread *t = thread_known();					\
										\
	if (t)									\
		CUDA_HIT(t);							\
	if (t && call_ends(ctx, t))						\
		leave(ctx, t);							\
	if (t && CUDA_BESIDE_ENDS(ctx, t))					\
		CUDA_BESIDE_LEAVE(ctx, t);					\
	if (t) {								\
		left_for_device(ctx, t);					\
		CUDA_HIT_ENDS(t);						\
	}									\
	return 0;								\
}										\
NOINLINE_IN_USER int cuda_session_enters(struct pt_regs *ctx, struct thread *t)		\
{										\
	const __u64 sp = t->call.sp, place = t->device.place;			\
	const __u32 on = t->device.device;					\
	const bool wanted = CUDA_ENTERS(ctx, t);				\
	bool device;								\
										\
	if (!entered_for_device(ctx, t, &device))				\
		device |= enter(ctx, t);					\
	if (t->call.sp != sp || sp == PT_REGS_SP(ctx))				\
		call_show(t);							\
	device_show_changed(t, place, on);					\
	return !device && !wanted;						\
}										\
NOINLINE_IN_USER int cuda_session_leaves(struct pt_regs *ctx, struct thread *t, bool ends, bool beside)	\
{										\
	const __u64 place = t->device.place;					\
	const __u32 on = t->device.device;					\
										\
	if (ends)								\
		leave(ctx, t);							\
	if (beside)								\
		CUDA_BESIDE_LEAVE(ctx, t);					\
	left_for_device(ctx, t);						\
	if (ends)								\
		call_show(t);							\
	device_show_changed(t, place, on);					\
	return 0;								\
}										\
/* 1 at an entry: does not arm the return */					\
static __always_inline int cuda_session_at(struct pt_regs *ctx, struct thread *t)	\
{										\
	bool entry, ends, beside;						\
										\
	if (CUDA_USDT_ENTER(ctx, t))						\
		return 1;							\
	entry = SESSION_RETURNS_CHEAP && !session_returns(ctx);			\
	ends = !entry && call_ends(ctx, t);					\
	beside = !entry && CUDA_BESIDE_ENDS(ctx, t);				\
	if (entry || (!SESSION_RETURNS_CHEAP &&					\
		      ((!ends && !beside && !device_ends(ctx, &t->device)) || !session_returns(ctx))))	\
		return cuda_session_enters(ctx, t);				\
	return cuda_session_leaves(ctx, t, ends, beside);			\
}										\
SEC("uprobe") int cuda_session(struct pt_regs *ctx)				\
{										\
	struct thread *t = thread_in_session(ctx);				\
	int skips;								\
										\
	if (!t)									\
		return 1;							\
	CUDA_HIT(t);								\
	skips = cuda_session_at(ctx, t);					\
	CUDA_HIT_ENDS(t);							\
	return skips;								\
}										\
SEC("raw_tp/sched_process_exit") int thread_exit(void *ctx)			\
{										\
	call_left();								\
	return 0;								\
}

#endif
