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
#include "cuda_api.h"
#include "lost.h"

/* The fields of the kernel's structs that the tools read; CO-RE finds where they are. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
typedef struct { int counter; } atomic_t;
struct signal_struct { atomic_t live; };
struct task_struct { int pid, tgid; struct signal_struct *signal; };
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
	__u64 caller;		/* the return address */
	__u64 start;		/* bpf_ktime_get_ns() */
	__u64 id;
	__u64 args[8];		/* [1] to [6]: the argument registers; [0] = 0 */
	struct call_data data;
};

struct thread {
	struct call call;
	struct thread_data data;
};

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

/* Argument number pos of cuda_args, at the entry; 0 if the function has none such. */
static __always_inline __u64 cuda_arg(const struct call *call, unsigned char pos)
{
	if (pos <= 6)
		return call->args[pos & 7];
	return read_u64(call->sp + 8 * (pos - 6));
}

/* True while the call in flight has not returned.  A call that is left by longjmp() or an
 * exception never returns; its record must not make later calls look nested in it.
 * While a return probe is armed, the kernel has put its trampoline's address in place of the
 * return address, and that is the start of a page (kernel/events/uprobes.c,
 * uprobe_get_trampoline_vaddr: slot 0 of the area). */
static __always_inline bool call_is_alive(const struct call *call, __u64 sp, __u64 caller)
{
	__u64 slot = 0;

	if (sp > call->sp)
		return false;
	if (sp == call->sp)	/* the traced function jumped to another one at its end */
		return caller != call->caller;
	if (bpf_probe_read_user(&slot, sizeof(slot), (void *)call->sp))
		return false;
	return slot && !(slot & 0xfff);
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

static __always_inline struct thread *call_begin(struct pt_regs *ctx, __u64 id)
{
	__u64 sp = PT_REGS_SP(ctx), caller;
	struct thread *t = thread_here();

	if (!t)
		return NULL;
	caller = read_u64(sp);
	if (t->call.sp) {
		if (call_is_alive(&t->call, sp, caller)) {
			CUDA_NESTED(ctx, t, id);
			return NULL;
		}
		lose(LOST_RETURN);
	}
	t->call.sp = sp;
	t->call.caller = caller;
	t->call.id = id;
	keep_arguments(&t->call, ctx);
	t->call.start = bpf_ktime_get_ns();
	return t;
}

/* To be called at the entry: the thread, with all of its new call but the data set, and the
 * id of the function, good as an index; NULL if this call is part of one that is already
 * counted. */
static __always_inline struct thread *call_enter(struct pt_regs *ctx, __u64 *id)
{
	__u64 which = cuda_id(ctx);
	struct thread *t;

	if (which >= CUDA_ID_MAX)
		return NULL;
	t = call_begin(ctx, which);
	if (!t)
		return NULL;
	barrier_var(which);	/* the verifier wants the value that is used to be the one checked */
	if (which >= CUDA_ID_MAX)
		return NULL;
	*id = which;
	return t;
}

/* To be called at a return: the thread, if what returns is its call in flight. */
static __always_inline struct thread *call_end(struct pt_regs *ctx)
{
	struct thread *t = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), NULL, 0);

	/* the return has popped the return address */
	if (!t || !t->call.sp || PT_REGS_SP(ctx) != t->call.sp + 8)
		return NULL;
	return t;
}

/* In a session program: is this the return?  bpf_session_is_return() would say so too, but
 * its signature differs between kernels (6.13 to 6.19 and 7.0), and a session returns only
 * from calls that call_begin() accepted: at their caller, with their stack. */
static __always_inline struct thread *call_returns(struct pt_regs *ctx)
{
	struct thread *t = call_end(ctx);

	if (!t || (PT_REGS_IP(ctx) != t->call.caller && t->call.caller & 0xfff))
		return NULL;
	return t;
}

/* Defines the programs for each attach kind from a tool's two functions:
 * enter(ctx) returns true if the return is wanted; leave(ctx, thread). */
#define CUDA_PROGRAMS(enter, leave)						\
SEC("uprobe") int cuda_enter(struct pt_regs *ctx)				\
{										\
	enter(ctx);								\
	return 0;								\
}										\
SEC("uprobe") int cuda_return(struct pt_regs *ctx)				\
{										\
	struct thread *t = call_end(ctx);					\
										\
	if (t)									\
		leave(ctx, t);							\
	return 0;								\
}										\
/* 1 from an entry: do not arm the return */					\
SEC("uprobe") int cuda_session(struct pt_regs *ctx)				\
{										\
	struct thread *t = call_returns(ctx);					\
										\
	if (!t)									\
		return !enter(ctx);						\
	leave(ctx, t);								\
	return 0;								\
}

#endif
