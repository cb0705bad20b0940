/* SPDX-License-Identifier: GPL-2.0 */
/* Records the calls of NCCL that begin operations, and that make or end communicators, beside the CUDA call that a thread is
 * in: what NCCL allocates, copies and launches stays a call of its own. */
#ifndef LIB_NCCL_CALLS_BPF_H
#define LIB_NCCL_CALLS_BPF_H
#include "lib/device.bpf.h"
#include "lib/nccl_id.bpf.h"
#include "lib/records.bpf.h"
#include "abi/nccl_event.h"

/* Kept of a thread: the outermost call of NCCL that it is in. */
struct nccl_call {
	struct call call;
	__u64 capture;		/* that it is part of; 0: none */
	__u64 code, count, stream, handle, hash;
	__u64 at;		/* where the new communicator is stored; 0: none is made */
	__u32 type;
	__s32 rank, nranks;
	__u64 id[ID_WORDS];
};

/* Calls without a record: user space then knows that the ranks of communicators cannot be compared any more. */
__u64 nccl_lost SEC(".data.nccl_lost");

/* Calls were captured: launches of graphs may begin operations. */
bool nccl_captured;

static __always_inline void nccl_lose(void)
{
	__sync_fetch_and_add(&nccl_lost, 1);
}

static __always_inline bool nccl_call_is(__u64 id)
{
	return id < CUDA_ID_MAX && cuda_libs[bounded(id, CUDA_ID_MAX - 1)] == CUDA_NCCL;
}

/* At an entry.  Returns true if the return must be traced; then the caller sets capture. */
static __always_inline bool nccl_call_enter(struct pt_regs *ctx, struct nccl_call *n, __u64 id)
{
	const struct cuda_args *row = &cuda_rows[id];
	__u64 sp = PT_REGS_SP(ctx);

	if (cuda_classes[id] != CUDA_OPERATION && cuda_classes[id] != CUDA_COMM)
		return false;
	if (call_inside(sp, n->call.sp))	/* ncclBcast() calls ncclBroadcast() */
		return false;
	if (n->call.sp) {
		lose(LOST_RETURN);
		nccl_lose();
	}
	n->call.sp = sp;
	n->call.id = id;
	n->call.start = bpf_ktime_get_ns();
	keep_arguments(&n->call, ctx);
	n->code = PT_REGS_IP(ctx);
	n->count = cuda_arg(&n->call, row->count);
	n->stream = cuda_arg(&n->call, row->stream);
	n->type = cuda_arg(&n->call, row->dtype);
	n->rank = cuda_arg(&n->call, row->rank);
	n->nranks = cuda_arg(&n->call, row->nranks);
	n->handle = cuda_arg(&n->call, row->comm);
	n->at = cuda_arg(&n->call, row->newcomm);
	n->hash = hash_at_entry(&n->call, row, n->id);
	return true;
}

/* Return true at the return of that call. */
static __always_inline bool nccl_call_ends(struct pt_regs *ctx, const struct nccl_call *n)
{
	return call_returns(ctx, n->call.sp);
}

/* At the return.  e is room for the record, whose operator, root and peer are left out. */
static __always_inline void nccl_call_leave(struct pt_regs *ctx, struct nccl_call *n, struct device_thread *device, __u64 program,
					    struct nccl_event *e)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	__u32 ret = PT_REGS_RC(ctx);
	bool failed = ret && ret != NCCL_IN_PROGRESS;

	__builtin_memset(e, 0, offsetof(struct nccl_event, stack));
	e->head.pid = task->tgid;
	e->head.kind = bounded(n->call.id, CUDA_ID_MAX - 1);
	e->time = bpf_ktime_get_ns();
	e->start = n->call.start;
	e->program = program;
	e->code = n->code;
	e->handle = !n->at ? n->handle : failed ? 0 : read_u64(n->at);
	e->at = n->at;
	e->hash = n->hash;
	e->count = n->count;
	e->stream = n->stream;
	e->tid = task->pid;
	e->uid = bpf_get_current_uid_gid();
	e->ret = ret;
	e->other = -1;
	e->rank = n->rank;
	e->nranks = n->nranks;
	e->type = n->type;
	e->device = device_here(device);
	e->capture = failed ? 0 : n->capture;
	nccl_captured |= e->capture;
	thread_comm(e->comm);
	if (!records_sent(e, offsetof(struct nccl_event, stack), e->at))
		nccl_lose();
}

/* At the return of a launch of a graph that is not captured itself. */
static __always_inline void nccl_launch_leave(struct pt_regs *ctx, const struct call *call, __u32 device, __u64 program,
					      struct nccl_event *e)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	__u64 id = bounded(call->id, CUDA_ID_MAX - 1);

	__builtin_memset(e, 0, offsetof(struct nccl_event, stack));
	e->head.pid = task->tgid;
	e->head.kind = id;
	e->time = bpf_ktime_get_ns();
	e->start = call->start;
	e->program = program;
	e->handle = cuda_arg(call, cuda_rows[id].handle);
	e->tid = task->pid;
	e->uid = bpf_get_current_uid_gid();
	e->ret = PT_REGS_RC(ctx);
	e->device = device;
	thread_comm(e->comm);
	if (!records_sent(e, offsetof(struct nccl_event, stack), false))
		nccl_lose();
}

#endif
