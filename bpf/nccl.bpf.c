// SPDX-License-Identifier: GPL-2.0
/* Records the calls of NCCL that begin operations, and that make or end communicators; and launches of CUDA graphs, which begin
 * the operations whose calls were captured: user space knows them. */
#include <stdbool.h>
#include <linux/types.h>
#include "abi/nccl_event.h"

struct call_data {
	__u64 count, stream, capture, hash, code;
	__u64 at;		/* where the new communicator is stored; 0: none is made */
	__u64 handle;
	__s32 other, rank, nranks;
	__u32 type, op;
};
#define CALL_DATA struct call_data

#define FRAMES 4
#include "lib/kernel_calls.bpf.h"
#include "lib/nccl_id.bpf.h"

enum { ASKED = 8 };

struct thread_data {
	struct nccl_event event;
	struct kernel_calls kernels;
	__u64 id[ID_WORDS];
	__u32 groups;		/* begun and not ended */
	__u32 group;		/* outermost ones begun so far */
	__u64 asked[ASKED];	/* communicators that were reported */
};
#define THREAD_DATA struct thread_data

struct task_struct;
struct thread;
struct inflight_call;
static __always_inline bool nccl_inflight(const struct task_struct *task, const struct thread *t, struct inflight_call *to);
#define INFLIGHT_TAKE nccl_inflight
#include "lib/cuda.bpf.h"
#include "lib/processes.bpf.h"
#include "lib/stack.bpf.h"
#include "lib/graph_calls.bpf.h"
#include "lib/inflight.bpf.h"

/* Set by the tool. */
const volatile bool nccl_stacks;	/* call stacks are wanted */
const volatile bool nccl_completion;	/* it is followed which operations are complete */

BPF_HASH(nccl_streams, struct nccl_stream_key, struct nccl_stream, NCCL_STREAMS)
BPF_HASH(nccl_marks, struct nccl_mark_key, struct nccl_mark, NCCL_MARKS)
struct nccl_shares nccl_shares SEC(".data.nccl");

/* Calls were captured: launches of graphs may begin operations. */
bool nccl_captured;

static __always_inline bool nccl_inflight(const struct task_struct *task, const struct thread *t, struct inflight_call *to)
{
	__u64 id = t->call.id;

	to->device = inflight_in(task, &t->device, inflight_stream(&t->call));
	if (id < CUDA_ID_MAX && cuda_libs[bounded(id, CUDA_ID_MAX - 1)] == CUDA_NCCL)
		to->nccl = (struct inflight_nccl){
			.handle = t->call.data.handle, .hash = t->call.data.hash, .count = t->call.data.count,
			.rank = t->call.data.rank, .nranks = t->call.data.nranks, .other = t->call.data.other,
			.type = t->call.data.type, .op = t->call.data.op, .is_nccl = true,
			.group = t->data.groups ? t->data.group : 0,
		};
	return inflight_outermost(t, to);
}

/* ---- Which operations are complete: those that were called before an event was recorded in their stream, or before a wait
 * for the stream began, when that event or wait is done. */

static __always_inline void completion_add(__u64 program, __u64 stream, __u32 device)
{
	struct nccl_stream_key key = { .program = program, .stream = stream, .device = device };
	struct nccl_stream first = {};

	if (!bpf_map_lookup_elem(&nccl_streams, &key) &&
	    !share_add(&nccl_streams, &key, &first, &first.share, &nccl_shares.streams, NCCL_STREAMS))
		lose(LOST_COMPLETION);
}

static __always_inline void completion_unmark(const struct nccl_mark_key *key, __u32 share)
{
	if (!bpf_map_delete_elem(&nccl_marks, key))
		share_give_back(&nccl_shares.marks, share);
}

/* An event is recorded. */
GLOBAL_SUBPROG int completion_mark(struct thread *t, __u64 event, __u64 stream, __u32 device)
{
	struct nccl_mark first = { .stream = { .program = t ? t->program : 0, .stream = stream, .device = device } }, *m;
	struct nccl_mark_key key = { .program = first.stream.program, .event = event };
	struct nccl_stream *s = bpf_map_lookup_elem(&nccl_streams, &first.stream);

	first.time = bpf_ktime_get_ns();
	m = bpf_map_lookup_elem(&nccl_marks, &key);
	if (!s || capture_of(key.program, stream)) {
		/* it is of another stream now; but the driver's call inside the runtime's may name the same one otherwise */
		if (m && first.time - m->time > 1000000)
			completion_unmark(&key, m->share);
		return 0;
	}
	if (m) {
		m->stream = first.stream;
		m->time = first.time;
	} else if (!share_add(&nccl_marks, &key, &first, &first.share, &nccl_shares.marks, NCCL_MARKS)) {
		lose(LOST_COMPLETION);
	}
	return 0;
}

static __always_inline void completion_event(struct pt_regs *ctx, struct thread *t)
{
	const struct cuda_args *row = &cuda_rows[bounded(cuda_id(ctx), CUDA_ID_MAX - 1)];
	struct call *c = &t->data.kernels.call;
	__u64 stream;

	if (row->op != CUDA_RECORD || !program_if_known(t, thread_pid()) || (t->call.sp && cuda_libs[bounded(t->call.id, CUDA_ID_MAX - 1)] == CUDA_NCCL))
		return;
	keep_arguments(c, ctx);
	stream = cuda_arg(c, row->stream);
	completion_mark(t, cuda_arg(c, row->event), stream, device_in(&t->device, stream));
}

/* A wait or a question has ended: with success, or not_ready. */
GLOBAL_SUBPROG int completion_answer(struct thread *t, __u64 event, __u64 stream, __u32 device, bool not_ready)
{
	struct nccl_stream_key key = { .program = t ? t->program : 0, .stream = stream, .device = device };
	struct nccl_mark_key mark = { .program = key.program, .event = event };
	__u64 time = t ? t->call.start : 0;
	struct nccl_stream *s;
	struct nccl_mark *m;

	if (event) {
		m = bpf_map_lookup_elem(&nccl_marks, &mark);
		if (!m || m->time > time)	/* recorded again meanwhile */
			return 0;
		key = m->stream;
		time = m->time;
	}
	s = bpf_map_lookup_elem(&nccl_streams, &key);
	if (!s || s->done >= time)
		return 0;
	if (not_ready) {
		s->pending = bpf_ktime_get_ns();
		return 0;
	}
	s->done = time;
	s->noticed = bpf_ktime_get_ns();
	return 0;
}

enum { NOT_READY = 600 };	/* cudaErrorNotReady, CUDA_ERROR_NOT_READY */

static __always_inline void completion_leave(struct pt_regs *ctx, struct thread *t, __u64 id)
{
	const struct cuda_args *row = &cuda_rows[id];
	__u64 stream = row->stream ? cuda_arg(&t->call, row->stream) : NCCL_ALL_STREAMS;
	__u32 ret = PT_REGS_RC(ctx);

	t->call.sp = 0;
	if ((ret && ret != NOT_READY) || row->ctx || !program_if_known(t, thread_pid()))
		return;
	completion_answer(t, row->event ? cuda_arg(&t->call, row->event) : 0, stream,
			  device_in(&t->device, row->stream ? stream : 0), ret);
}

/* A communicator is asked about: it may be from before tracing began.  It is reported once by a thread, as programs ask all
 * the time. */
static __always_inline void nccl_asked(struct pt_regs *ctx, struct thread *t)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct nccl_event *e = &t->data.event;
	__u64 handle = CALL_ARG(ctx, 1), at = (handle >> 4 ^ handle >> 12) & (ASKED - 1);
	bool first;

	if (!handle || t->data.asked[at] == handle || !task_wanted() || !process_known(t, thread_pid(), &first))
		return;
	t->data.asked[at] = handle;
	__builtin_memset(e, 0, offsetof(struct nccl_event, stack));
	e->time = e->start = bpf_ktime_get_ns();
	e->program = t->program;
	e->code = PT_REGS_IP(ctx);
	e->handle = handle;
	e->other = -1;
	e->head.pid = task->tgid;
	e->head.kind = cuda_id(ctx);
	e->tid = task->pid;
	e->uid = bpf_get_current_uid_gid();
	thread_comm(e->comm);
	records_send(e, offsetof(struct nccl_event, stack), first);
}

static __always_inline bool nccl_enter(struct pt_regs *ctx, struct thread *t)
{
	const struct cuda_args *row;
	struct call_data *d = &t->call.data;
	__u32 class;
	__u64 id;

	class = cuda_classes[bounded(cuda_id(ctx), CUDA_ID_MAX - 1)];
	if (class == CUDA_EVENT && nccl_completion)
		completion_event(ctx, t);
	if (is_beside(ctx))
		return beside_enter(ctx, t);
	if (class == CUDA_ASK) {
		nccl_asked(ctx, t);
		return false;
	}
	if (!call_enter(ctx, t, &id))
		return false;
	row = &cuda_rows[id];
	d->capture = cuda_classes[id] == CUDA_OPERATION || cuda_classes[id] == CUDA_LAUNCH ? capture_now(t, id) : 0;
	if (cuda_libs[id] != CUDA_NCCL && cuda_classes[id] != CUDA_LAUNCH)
		return true;
	d->count = cuda_arg(&t->call, row->count);
	d->stream = row->stream ? cuda_arg(&t->call, row->stream) : 0;
	d->type = cuda_arg(&t->call, row->dtype);
	d->op = cuda_arg(&t->call, row->redop);
	d->other = row->root || row->peer ? (__s32)cuda_arg(&t->call, row->root ?: row->peer) : -1;
	d->rank = cuda_arg(&t->call, row->rank);
	d->nranks = cuda_arg(&t->call, row->nranks);
	d->handle = cuda_arg(&t->call, row->comm ?: row->handle);
	d->at = cuda_arg(&t->call, row->newcomm);
	d->hash = hash_at_entry(&t->call, row, t->data.id);
	d->code = PT_REGS_IP(ctx);
	return true;
}

static __always_inline bool failed(__u32 result)
{
	return result && result != NCCL_IN_PROGRESS;
}

static __always_inline void nccl_record(struct pt_regs *ctx, struct thread *t, __u64 id, struct nccl_event *e)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	const struct call_data *d = &t->call.data;

	e->time = bpf_ktime_get_ns();
	e->start = t->call.start;
	e->program = t->program;
	e->code = d->code;
	e->ret = PT_REGS_RC(ctx);
	e->at = d->at;
	e->handle = !d->at ? d->handle : failed(e->ret) ? 0 : read_u64(d->at);
	e->hash = d->hash;
	e->count = d->count;
	e->stream = d->stream;
	e->other = d->other;
	e->rank = d->rank;
	e->nranks = d->nranks;
	e->type = d->type;
	e->op = d->op;
	e->device = device_in(&t->device, d->stream);
	e->capture = failed(e->ret) ? 0 : d->capture;
	e->grouped = t->data.groups && cuda_libs[id] == CUDA_NCCL;
	e->group = e->grouped || cuda_classes[id] == CUDA_GROUP ? t->data.group : 0;
	e->replayed = false;
	e->head.pid = task->tgid;
	e->head.kind = id;
	e->tid = task->pid;
	e->uid = bpf_get_current_uid_gid();
	thread_comm(e->comm);
}

/* Return true if the graph that was launched runs now; it may be captured itself. */
static __always_inline bool replays(struct thread *t, __u32 failed)
{
	struct launch_key key = {};

	return !failed && graph_launched(t, &key, t->call.data.capture);
}

static __always_inline void nccl_leave(struct pt_regs *ctx, struct thread *t)
{
	__u64 id = bounded(t->call.id, CUDA_ID_MAX - 1);
	struct nccl_event *e = &t->data.event;
	__u32 op = cuda_rows[id].op, n = 0, ret = PT_REGS_RC(ctx);
	bool first;

	if (cuda_libs[id] != CUDA_NCCL && cuda_classes[id] != CUDA_LAUNCH) {
		completion_leave(ctx, t, id);
		return;
	}
	t->call.sp = 0;
	if (cuda_classes[id] == CUDA_LAUNCH && !replays(t, ret))
		return;
	if (cuda_classes[id] == CUDA_GROUP) {
		if (op == CUDA_END && t->data.groups)
			t->data.groups--;
		else if (op == CUDA_BEGIN && !ret && !t->data.groups++)
			t->data.group++;
		if (op == CUDA_BEGIN && !ret)
			return;
	}
	if (!process_known(t, thread_pid(), &first))
		return;
	nccl_record(ctx, t, id, e);
	nccl_captured |= e->capture;
	if (nccl_completion && !failed(ret) && !e->capture &&
	    (cuda_classes[id] == CUDA_OPERATION || (cuda_classes[id] == CUDA_LAUNCH && nccl_captured))) {
		completion_add(t->program, e->stream, e->device);
		completion_add(t->program, NCCL_ALL_STREAMS, e->device);
	}
	if (nccl_stacks)
		n = stack_take(ctx, e->stack, 0);
	e->head.frames = n;
	records_send(e, offsetof(struct nccl_event, stack) + stack_bytes(n), first || e->at);
}

CUDA_PROGRAMS(nccl_enter, nccl_leave)
static __always_inline void nccl_dropped(struct thread *t)
{
	calls_dropped(t);
	t->data.groups = 0;
	__builtin_memset(t->data.asked, 0, sizeof(t->data.asked));
}

PROCESS_PROGRAMS(nccl_dropped)

char LICENSE[] SEC("license") = "GPL";
