// SPDX-License-Identifier: GPL-2.0
/* The time that threads wait for the GPU, and the part of it off the CPU; and which operation of NCCL a wait is behind. */
#include <stdbool.h>
#include <linux/types.h>
#include "api/cuda_api.h"
#include "abi/aggregate_group.h"
#include "abi/nccl_last.h"

#define CUDA_BESIDE_ENDS(ctx, t) wait_beside_ends(ctx, t)
#define CUDA_BESIDE_LEAVE(ctx, t) wait_beside_leave(ctx, t)
#define CUDA_STREAM_ENDS(ctx, t) wait_stream_ends(ctx, t)
#define FRAMES 4
#include "lib/kernel_calls.bpf.h"
#include "lib/nccl_calls.bpf.h"

struct thread_data {
	union {			/* what is sent at a return */
		struct aggregate_record record;
		struct nccl_event operation;
	};
	struct kernel_calls kernels;
	struct nccl_call nccl;
	struct nccl_last behind;	/* of the call in flight */
	/* for its call in flight: see lib/off_cpu.bpf.h */
	__u64 off_since, ran, off_ns, delay;
	__u64 stream;		/* that it waits for, see abi/stream.h */
	__u32 device;		/* of the stream or context that it waits for */
	__u32 waiting_at, waiting_epoch;	/* its element of wait_slot; its epoch + 1 */
};
#define THREAD_DATA struct thread_data

struct task_struct;
struct pt_regs;
struct thread;
struct inflight_call;
static __always_inline void wait_stream_ends(struct pt_regs *ctx, struct thread *t);
static __always_inline void wait_dropped(struct thread *t);
#define AGGREGATE_DROPPED wait_dropped
static __always_inline bool wait_inflight(const struct task_struct *task, const struct thread *t,
					 struct inflight_call *to);
#define INFLIGHT_TAKE wait_inflight
#include "lib/call_device.bpf.h"
#include "lib/cuda.bpf.h"
#include "lib/aggregate.bpf.h"
#include "lib/off_cpu.bpf.h"
#include "lib/inflight.bpf.h"
#include "lib/call.bpf.h"
#include "lib/graph_calls.bpf.h"
#include "lib/nccl_last.bpf.h"

/* Set by the tool. */
const volatile bool wait_off_cpu;
const volatile bool wait_nccl;		/* waits in flight are printed, with what they are behind */
const volatile __u64 wait_slower;	/* ns: only calls that took at least this long */

/* Each element is changed only by its own thread; one half is for odd epochs, one for even ones.
 * An array, because a hash map would be a quarter of the total cost. */
SLOT_ARRAY(wait_slot, 2 * WAIT_SLOTS, struct wait_slot)

__u64 waiting_used[2];	/* elements taken; threads beyond the array's size are in the map below */

enum { WAITING = 65536 /* of an epoch */ };

BPF_HASH(waiting, struct wait_thread_key, struct wait_thread, 2 * WAITING)

struct shares waiting_shares[2];	/* as aggregate_shares */

/* ---- NCCL: beside the call in flight, as its calls wait, too */

/* Returns true for the first one of a program on a device: user space then probes its events. */
static __always_inline bool operation_enqueued(struct thread *t, const struct nccl_call *n)
{
	__u64 id = bounded(n->call.id, CUDA_ID_MAX - 1), stream = n->stream ?: STREAM_LEGACY;
	__u32 device = device_in(&t->device, stream);
	struct nccl_last_key key = nccl_last_key(t->program, stream, device);
	const struct nccl_last op = {
		.start = n->call.start, .program = t->program, .handle = n->handle, .code = n->code, .count = n->count,
		.func = id, .type = n->type, .tid = bpf_get_current_pid_tgid(), .uid = bpf_get_current_uid_gid(),
	};

	nccl_last_note(&key, &op);
	key = nccl_last_key(t->program, NCCL_ALL_STREAMS, device);
	return nccl_last_note(&key, &op);
}

static __always_inline void operation_leave(struct pt_regs *ctx, struct thread *t)
{
	struct nccl_call *n = &t->data.nccl;
	__u32 ret = PT_REGS_RC(ctx);
	bool first, sends = true;

	if (!process_known(t, thread_pid(), &first)) {
		nccl_lose();
	} else {
		if (cuda_classes[bounded(n->call.id, CUDA_ID_MAX - 1)] == CUDA_OPERATION)
			sends = !n->capture && (!ret || ret == NCCL_IN_PROGRESS) && operation_enqueued(t, n);
		if (sends)
			nccl_call_leave(ctx, n, &t->device, t->program, &t->data.operation);
	}
	n->call.sp = 0;
}

static __always_inline bool wait_beside_ends(struct pt_regs *ctx, const struct thread *t)
{
	return wait_nccl && (kernel_call_ends(ctx, &t->data.kernels) || nccl_call_ends(ctx, &t->data.nccl));
}

static __always_inline void wait_beside_leave(struct pt_regs *ctx, struct thread *t)
{
	if (nccl_call_ends(ctx, &t->data.nccl))
		operation_leave(ctx, t);
	else
		beside_leave(ctx, t);
}

static __always_inline void wait_stream_ends(struct pt_regs *ctx, struct thread *t)
{
	if (wait_nccl)
		nccl_last_stream_ends(t, CALL_ARG(ctx, 1));
}

static __always_inline void wait_dropped(struct thread *t)
{
	calls_dropped(t);
	t->data.nccl.call.sp = 0;
	t->data.behind.start = 0;
}

/* Return true if the function is none that waits; then *wanted is set if its return must be traced. */
static __always_inline bool entered_beside(struct pt_regs *ctx, struct thread *t, bool *wanted)
{
	const __u32 nccl = 1u << CUDA_OPERATION | 1u << CUDA_COMM | 1u << CUDA_ASK;
	__u64 id = bounded(cuda_id(ctx), CUDA_ID_MAX - 1);
	__u32 class = 1u << cuda_classes[id];

	*wanted = false;
	if (!(class & (nccl | CUDA_GRAPH_CLASSES)))
		return false;
	if (class == 1u << CUDA_EVENT)
		nccl_last_event(ctx, t, &t->data.kernels.call);
	*wanted = class & nccl ? nccl_enter(ctx, t, &t->data.nccl, id) : beside_enter(ctx, t);
	return true;
}

/* ---- Waits */

static __always_inline void wait_is_behind_none(struct thread *t)
{
	if (!t->data.behind.start)
		return;
	t->data.behind.start = 0;
	storage_show(&threads, bpf_get_current_task_btf(), &t->data.behind.start, sizeof(t->data.behind.start));
}

/* start is set last: lib/inflight.bpf.h may read it meanwhile. */
static __always_inline void wait_is_behind(struct thread *t, __u64 id)
{
	struct nccl_last op = {};
	__u64 start;

	wait_is_behind_none(t);
	nccl_last_before(t, id, t->data.device, &op);
	if (!op.start)
		return;
	start = op.start;
	op.start = 0;
	t->data.behind = op;
	write_ordered(&t->data.behind.start, start);
	storage_show(&threads, bpf_get_current_task_btf(), &t->data.behind, sizeof(t->data.behind));
}

static __always_inline bool wait_enter(struct pt_regs *ctx, struct thread *t)
{
	bool wanted;
	__u64 id;

	if (wait_nccl && entered_beside(ctx, t, &wanted))
		return wanted;
	if (!call_enter(ctx, t, &id))
		return false;
	if (wait_off_cpu)
		off_cpu_begin(t);
	/* here, as the call may destroy the stream */
	t->data.device = device_of_call(t, id);
	storage_show(&threads, bpf_get_current_task_btf(), &t->data.device, sizeof(t->data.device));
	if (aggregate_streams)
		t->data.stream = stream_in(&t->call, id);
	if (wait_nccl)
		wait_is_behind(t, id);
	return true;
}

static __always_inline bool wait_inflight(const struct task_struct *task, const struct thread *t,
					 struct inflight_call *to)
{
	__u64 start;

	to->device = t->data.device;
	if (!inflight_outermost(t, to))
		return false;
	start = *(volatile __u64 *)&t->data.behind.start;	/* first: see wait_is_behind() */
	ordered();
	to->behind = t->data.behind;
	to->behind.start = start;
	return true;
}

static __always_inline struct wait_slot *waiting_element(__u32 epoch, __u32 at)
{
	__u32 i = (epoch & 1) * WAIT_SLOTS + at;

	return at < WAIT_SLOTS ? bpf_map_lookup_elem(&wait_slot, &i) : NULL;
}

/* The thread's element; NULL if there are too many threads. */
static __always_inline struct wait_thread *waiting_here(struct thread *t,
							 const struct wait_thread_key *key)
{
	struct wait_slot *q = NULL;

	if (t->data.waiting_epoch == key->epoch + 1)
		q = waiting_element(key->epoch, t->data.waiting_at);
	if (q && q->key.pid == key->pid && q->key.tid == key->tid)
		return &q->thread;
	if (waiting_used[key->epoch & 1] >= WAIT_SLOTS)
		return NULL;
	t->data.waiting_at = __sync_fetch_and_add(&waiting_used[key->epoch & 1], 1);
	t->data.waiting_epoch = key->epoch + 1;
	q = waiting_element(key->epoch, t->data.waiting_at);
	if (!q || !slot_take(&q->slot))
		return NULL;
	q->key = *key;
	thread_comm(q->thread.comm);
	slot_ready(&q->slot);
	return &q->thread;
}

/* Adds the thread's element to the map; false if there are too many. */
static __noinline bool waiting_new(const struct wait_thread_key *key, __u64 ns)
{
	struct wait_thread first = { .count = 1, .ns = ns };
	__u32 share;

	thread_comm(first.comm);
	return share_add(&waiting, key, &first, &share, &waiting_shares[key->epoch & 1], WAITING);
}

static __always_inline void thread_waited(struct thread *t, __u32 epoch, __u64 ns)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct wait_thread_key key = { .epoch = epoch, .pid = task->tgid, .tid = task->pid };
	struct wait_thread *w = waiting_here(t, &key);

	if (!w)
		w = bpf_map_lookup_elem(&waiting, &key);
	if (w) {
		w->count++;
		w->ns += ns;
		return;
	}
	if (!waiting_new(&key, ns))
		lose(LOST_THREAD);
}

static __always_inline void wait_leave(struct pt_regs *ctx, struct thread *t)
{
	struct aggregate_key key = aggregate_key(t->call.id);
	__u64 now = bpf_ktime_get_ns(), ns = now - t->call.start, off, runnable;

	t->call.sp = 0;
	if (wait_nccl)
		wait_is_behind_none(t);
	if (ns < wait_slower)
		return;
	key.device = t->data.device;
	if (aggregate_streams)
		key.stream = t->data.stream;
	if (!device_wanted(key.device))
		return;
	off = off_cpu_end(t, now, ns);
	runnable = wait_off_cpu ? off_cpu_runnable(t, off) : 0;
	thread_waited(t, key.epoch, ns);
	aggregate_timed(ctx, t, &t->data.record, &key, &(struct aggregated_time){ ns, off, runnable, false });
}

CUDA_PROGRAMS(wait_enter, wait_leave)

/* Loaded only on request: it runs at every switch of every CPU. */
SEC("tp_btf/sched_switch") int wait_switch(__u64 *ctx)
{
	off_cpu_switch((void *)ctx[1], (void *)ctx[2]);
	return 0;
}
