/* SPDX-License-Identifier: GPL-2.0 */
/* The last operation of NCCL that was enqueued in each stream, on each device, and before each event: what a wait for one of them
 * is behind.  A stream that waits for an event is behind what the event is. */
#ifndef LIB_NCCL_LAST_BPF_H
#define LIB_NCCL_LAST_BPF_H
#include "lib/cuda.bpf.h"
#include "lib/graph.bpf.h"
#include "lib/processes.bpf.h"
#include "lib/shares.bpf.h"
#include "abi/nccl_event.h"
#include "abi/nccl_last.h"

BPF_HASH(nccl_lasts, struct nccl_last_key, struct nccl_last_of, NCCL_STREAMS)
BPF_HASH(nccl_marks, struct nccl_mark_key, struct nccl_last_of, NCCL_MARKS)
struct nccl_shares nccl_shares SEC(".data.nccl");

/* False where no program has called NCCL: the others pay for no more than this. */
static __always_inline bool nccl_last_any(void)
{
	return *(volatile __u64 *)&nccl_shares.streams.used;
}

static __always_inline bool nccl_last_by_device(__u64 stream)
{
	return stream == STREAM_LEGACY || stream == NCCL_ALL_STREAMS;
}

static __always_inline struct nccl_last_key nccl_last_key(__u64 program, __u64 stream, __u32 device)
{
	return (struct nccl_last_key){
		.program = program, .stream = stream, .device = nccl_last_by_device(stream) ? device : 0,
		.thread = stream == STREAM_PER_THREAD ? (__u32)bpf_get_current_pid_tgid() : 0,
	};
}

/* Replaces an element, as others may read it.  If there is no memory, it must not stay. */
static __always_inline void nccl_last_replace(void *map, const void *key, const struct nccl_last_of *v, struct shares *shares)
{
	if (!bpf_map_update_elem(map, key, v, BPF_EXIST))
		return;
	if (!bpf_map_delete_elem(map, key))
		share_give_back(shares, v->share);
	lose(LOST_COMPLETION);
}

/* An operation is enqueued there.  Returns true if it is the first one.  The key is copied, here and below: a map takes no
 * argument of a global function (Linux 6.1). */
GLOBAL_SUBPROG int nccl_last_note(const struct nccl_last_key *where, const struct nccl_last *op)
{
	struct nccl_last_of v = {}, *old;
	struct nccl_last_key key;

	if (!where || !op)
		return 0;
	key = *where;
	v.last = *op;
	old = bpf_map_lookup_elem(&nccl_lasts, &key);
	if (!old) {
		if (share_add(&nccl_lasts, &key, &v, &v.share, &nccl_shares.streams, NCCL_STREAMS))
			return 1;
		old = bpf_map_lookup_elem(&nccl_lasts, &key);
	}
	if (!old) {
		lose(LOST_COMPLETION);
		return 0;
	}
	if (old->last.start > op->start)
		return 0;
	v.share = old->share;
	/* a thread or a communicator has one device */
	v.mixed = old->mixed || (nccl_last_by_device(key.stream) && !key.device && old->last.tid != op->tid &&
				 old->last.handle != op->handle);
	nccl_last_replace(&nccl_lasts, &key, &v, &nccl_shares.streams);
	return 0;
}

/* Sets what is there; start is 0 if there is nothing, or if it is not known whether it is the last one. */
GLOBAL_SUBPROG int nccl_last_find(const struct nccl_last_key *where, struct nccl_last *to)
{
	struct nccl_last_of *found, *unknown = NULL;
	struct nccl_last_key key;

	if (!where || !to)
		return 0;
	to->start = 0;
	key = *where;
	found = bpf_map_lookup_elem(&nccl_lasts, &key);
	if (!found || found->mixed)
		return 0;
	if (key.device) {
		key.device = 0;
		unknown = bpf_map_lookup_elem(&nccl_lasts, &key);
	}
	if (!unknown || unknown->last.start < found->last.start)
		*to = found->last;
	return 0;
}

static __always_inline void nccl_last_of_event(__u64 program, __u64 event, struct nccl_last *to)
{
	struct nccl_mark_key key = { .program = program, .event = event };
	struct nccl_last_of *m = bpf_map_lookup_elem(&nccl_marks, &key);

	to->start = 0;
	if (m)
		*to = m->last;
}

/* An event is recorded in a stream.  One that is captured is not. */
GLOBAL_SUBPROG int nccl_last_recorded(__u64 program, __u64 stream, __u64 event, __u32 device)
{
	struct nccl_last_key from = nccl_last_key(program, stream, device);
	struct nccl_mark_key key = { .program = program, .event = event };
	struct nccl_last_of v = {}, *old = bpf_map_lookup_elem(&nccl_marks, &key);

	if (!captures_any() || !capture_of(program, stream))
		nccl_last_find(&from, &v.last);
	if (old) {
		v.share = old->share;
		if (v.last.start)
			nccl_last_replace(&nccl_marks, &key, &v, &nccl_shares.marks);
		else if (!bpf_map_delete_elem(&nccl_marks, &key))
			share_give_back(&nccl_shares.marks, v.share);
	} else if (v.last.start &&
		   !share_add(&nccl_marks, &key, &v, &v.share, &nccl_shares.marks, NCCL_MARKS)) {
		lose(LOST_COMPLETION);
	}
	return 0;
}

/* A stream waits for an event. */
GLOBAL_SUBPROG int nccl_last_awaited(__u64 program, __u64 stream, __u64 event, __u32 device)
{
	struct nccl_last_key key = nccl_last_key(program, stream, device);
	struct nccl_last op;

	if (captures_any() && capture_of(program, stream))
		return 0;
	nccl_last_of_event(program, event, &op);
	if (op.start)
		nccl_last_note(&key, &op);
	return 0;
}

/* Call at the entry of a function of class event; c is room for its arguments. */
static __always_inline void nccl_last_event(struct pt_regs *ctx, struct thread *t, struct call *c)
{
	const struct cuda_args *row = &cuda_rows[bounded(cuda_id(ctx), CUDA_ID_MAX - 1)];
	__u64 stream, event;

	if (!nccl_last_any() || !program_if_known(t, thread_pid()))
		return;
	c->sp = PT_REGS_SP(ctx);
	keep_arguments(c, ctx);
	stream = capture_argument(c, row);
	event = cuda_arg(c, row->event);
	if (row->op == CUDA_RECORD)
		nccl_last_recorded(t->program, stream, event, device_in(&t->device, stream));
	else
		nccl_last_awaited(t->program, stream, event, device_in(&t->device, stream));
}

/* Call where a call destroys a stream: the next one may have its handle. */
static __always_inline void nccl_last_stream_ends(struct thread *t, __u64 stream)
{
	struct nccl_last_key key;
	struct nccl_last_of *old;
	__u32 share;

	if (!nccl_last_any() || stream <= STREAM_PER_THREAD || !program_if_known(t, thread_pid()))
		return;
	key = nccl_last_key(t->program, stream, 0);
	old = bpf_map_lookup_elem(&nccl_lasts, &key);
	if (!old)
		return;
	share = old->share;
	if (!bpf_map_delete_elem(&nccl_lasts, &key))
		share_give_back(&nccl_shares.streams, share);
}

/* Sets what the wait that has begun is behind; device: that of its stream or context. */
static __always_inline void nccl_last_before(struct thread *t, __u64 id, __u32 device, struct nccl_last *to)
{
	const struct cuda_args *row = &cuda_rows[id];
	__u32 class = cuda_classes[id];
	struct nccl_last_key key;
	__u64 stream;

	to->start = 0;
	if (!nccl_last_any() || (class != CUDA_SYNC && (class != CUDA_COPY || row->async)) ||
	    !program_if_known(t, thread_pid()))
		return;
	if (row->event) {
		nccl_last_of_event(t->program, cuda_arg(&t->call, row->event), to);
		return;
	}
	stream = stream_in(&t->call, id);
	key = nccl_last_key(t->program, stream ?: NCCL_ALL_STREAMS, device);
	nccl_last_find(&key, to);
}

#endif
