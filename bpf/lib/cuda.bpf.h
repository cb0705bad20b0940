/* SPDX-License-Identifier: GPL-2.0 */
/* What every tool's probes start with: which call is this, its arguments, the thread's call
 * in flight, and what was lost.  A tool includes it after defining struct call_data, what it
 * keeps of a call between entry and return. */
#ifndef CUDA_BPF_H
#define CUDA_BPF_H
#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "api/cuda_api.h"
#include "abi/lost.h"

/* The fields of the kernel's structs that the tools read; CO-RE finds where they are. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
typedef struct { int counter; } atomic_t;
struct signal_struct { atomic_t live; unsigned int flags; };
struct task_struct { int pid, tgid; char comm[16]; struct signal_struct *signal; };
#pragma clang attribute pop

static const struct cuda_args cuda_rows[] = {
#define CUDA_API(name, lib, class, ...) { __VA_ARGS__ },
#include "cuda_api.def"
#undef CUDA_API
};

static const unsigned char cuda_classes[] = {
#define CUDA_API(name, lib, class, ...) CUDA_##class,
#include "cuda_api.def"
#undef CUDA_API
};

/* Read by user space at the end: enum lost says which. */
__u64 lost[LOST_MAX];

static __always_inline void lose(enum lost why)
{
	__sync_fetch_and_add(&lost[why], 1);
}

/* A word of the program's memory; 0, and counted as lost, if it cannot be read. */
static __always_inline __u64 read_u64(__u64 at)
{
	__u64 v = 0;

	if (bpf_probe_read_user(&v, sizeof(v), (void *)at))
		lose(LOST_READ);
	return v;
}

static __always_inline __u32 read_u32(__u64 at)
{
	__u32 v = 0;

	if (bpf_probe_read_user(&v, sizeof(v), (void *)at))
		lose(LOST_READ);
	return v;
}

/* The id of the function that this probe is in; CUDA_ID_MAX if the cookie is none. */
static __always_inline __u64 cuda_id(void *ctx)
{
	__u64 id = bpf_get_attach_cookie(ctx);

	return id < CUDA_ID_MAX ? id : CUDA_ID_MAX;
}

/* The outermost traced call that a thread is in. */
struct call {
	__u64 sp;		/* at its entry; 0 = the thread is in none */
	__u64 start;		/* bpf_ktime_get_ns(), or 0: see CUDA_TIMED */
	__u64 id;
	__u64 args[8];		/* [1] to [6]: the argument registers; [0] = 0 */
	struct call_data data;
};

struct thread {
	struct call call;
	struct thread_data data;
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

/* Is it the last thread of its process that ends here? */
static __always_inline bool process_ends(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, signal, live.counter) == 0;
}

/* The thread's, as bpf_get_current_comm() has it for three times the cost. */
static __always_inline void thread_comm(char comm[16])
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();

	for (int i = 0; i < 16; i++)
		comm[i] = task->comm[i];
}

static __always_inline __u32 thread_pid(void)
{
	return ((const struct task_struct *)bpf_get_current_task_btf())->tgid;
}

/* Argument number pos of cuda_args, at the entry; 0 if the function has none such. */
static __always_inline __u64 cuda_arg(const struct call *call, unsigned char pos)
{
	if (pos <= 6)
		return call->args[pos & 7];
	return read_u64(call->sp + 8 * (pos - 6));
}

/* While a return probe is armed, the kernel has put its trampoline's address in place of the
 * return address, and that is the start of a page (kernel/events/uprobes.c,
 * uprobe_get_trampoline_vaddr: slot 0 of the area). */
static __always_inline bool is_armed(__u64 entry)
{
	__u64 slot = 0;

	return !bpf_probe_read_user(&slot, sizeof(slot), (void *)entry) && slot && !(slot & 0xfff);
}

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

static __always_inline void keep_arguments(struct call *call, struct pt_regs *ctx)
{
	call->args[1] = PT_REGS_PARM1(ctx);
	call->args[2] = PT_REGS_PARM2(ctx);
	call->args[3] = PT_REGS_PARM3(ctx);
	call->args[4] = PT_REGS_PARM4(ctx);
	call->args[5] = PT_REGS_PARM5(ctx);
	call->args[6] = ctx->r9;
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

/* At a return: is it of the thread's call in flight?  It has popped the return address. */
static __always_inline bool call_ends(struct pt_regs *ctx, const struct thread *t)
{
	return t->call.sp && PT_REGS_SP(ctx) == t->call.sp + 8;
}

/* What the call that ends returned: 0 is success.  One function returns nothing. */
static __always_inline __s32 call_result(struct pt_regs *ctx, const struct call *call)
{
	return call->id == CUDA_ID___cudaRegisterFunction ? 0 : (__s32)PT_REGS_RC(ctx);
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
