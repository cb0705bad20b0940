/* SPDX-License-Identifier: GPL-2.0 */
/* Calls of which only a returned error and the time matter (cuda_error_source in probe/probe_source.h): the outermost one that a
 * thread is in, beside those that the tool follows. */
#ifndef LIB_FAILING_BPF_H
#define LIB_FAILING_BPF_H
#include "lib/call.bpf.h"
#include "lib/task.bpf.h"

/* Kept of a thread; starts zeroed. */
struct failing_call {
	__u64 sp;		/* at its entry; 0: none */
	__u64 start;		/* ns */
	__u32 id;		/* of cuda_error_source */
};

/* Call at an entry.  followed: a mask of the classes whose errors the tool sees by itself; call: the stack pointer at the entry of
 * such a call that the thread is in, or 0.  Returns true if the return must be traced. */
static __always_inline bool failing_enter(struct pt_regs *ctx, struct failing_call *f, __u32 followed, __u64 call)
{
	__u64 id = probe_cookie(ctx), sp = PT_REGS_SP(ctx);

	if (id < CUDA_ID_MAX && followed & 1u << cuda_classes[bounded(id, CUDA_ID_MAX - 1)])
		return false;
	if (id < CUDA_ID_MAX && cuda_classes[bounded(id, CUDA_ID_MAX - 1)] == CUDA_EVENT)	/* no return probe */
		return false;
	if (id == CUDA_ID___cudaRegisterFunction || id == CUDA_ID___cudaUnregisterFatBinary)	/* return nothing */
		return false;
	if (call_inside(sp, f->sp) || call_inside(sp, call))
		return false;
	f->sp = sp;
	f->start = bpf_ktime_get_ns();
	f->id = id;
	return true;
}

/* Return true at the return of that call. */
static __always_inline bool failing_ends(struct pt_regs *ctx, const struct failing_call *f)
{
	return call_returns(ctx, f->sp);
}

#endif
