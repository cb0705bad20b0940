/* SPDX-License-Identifier: GPL-2.0 */
/* Calls that load, compile or link code, beside the call that a thread is in: the runtime loads code in the first call that
 * needs it. */
#ifndef LIB_LOADS_BPF_H
#define LIB_LOADS_BPF_H
#include "lib/call.bpf.h"
#include "lib/task.bpf.h"

/* Kept of a thread: the outermost such call that it is in. */
struct load_call {
	__u64 sp;		/* at its entry; 0: none */
	__u64 start;
	__u64 id;
};

/* At an entry.  Returns true if the return must be traced. */
static __always_inline bool load_enter(struct pt_regs *ctx, struct load_call *l)
{
	__u64 id = cuda_id(ctx), sp = PT_REGS_SP(ctx);

	if (id >= CUDA_ID_MAX)
		return false;
	id = bounded(id, CUDA_ID_MAX - 1);
	if (cuda_classes[id] != CUDA_LOAD && !cuda_rows[id].loads)
		return false;
	if (call_inside(sp, l->sp))
		return false;
	if (l->sp)
		lose(LOST_RETURN);
	l->sp = sp;
	l->id = id;
	l->start = bpf_ktime_get_ns();
	return true;
}

/* Return true at the return of that call. */
static __always_inline bool load_ends(struct pt_regs *ctx, const struct load_call *l)
{
	return call_returns(ctx, l->sp);
}

#endif
