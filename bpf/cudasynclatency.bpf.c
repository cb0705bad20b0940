// SPDX-License-Identifier: GPL-2.0
/* The time that threads wait for the GPU, and the part of it off the CPU. */
#include <stdbool.h>
#include <linux/types.h>
#include "api/cuda_api.h"
#include "abi/cudasynclatency.h"
#include "abi/aggregate.h"

struct thread_data {
	struct aggregate_record record;
	/* for its call in flight: see lib/off_cpu.bpf.h */
	__u64 off_since, ran, off_ns;
	__u64 stream;		/* that it waits for, see abi/stream.h */
	__u32 device;		/* of the stream or context that it waits for */
	__u32 waiting_at, waiting_epoch;	/* its element of wait_slot; its epoch + 1 */
};
#define THREAD_DATA struct thread_data

struct task_struct;
struct thread;
struct inflight_call;
static __always_inline bool wait_inflight(const struct task_struct *task, const struct thread *t,
					 struct inflight_call *to);
#define INFLIGHT_TAKE wait_inflight
#include "lib/cuda.bpf.h"
#include "lib/aggregate.bpf.h"
#include "lib/off_cpu.bpf.h"
#include "lib/inflight.bpf.h"
#include "lib/call.bpf.h"

/* Set by the tool. */
const volatile bool wait_off_cpu;
const volatile __u64 wait_slower;	/* ns: only calls that took at least this long */

/* Each element is changed only by its own thread; one half is for odd epochs, one for even ones.
 * An array, because a hash map would be a quarter of the total cost. */
SLOT_ARRAY(wait_slot, 2 * WAIT_SLOTS, struct wait_slot)

__u64 waiting_used[2];	/* elements taken; threads beyond the array's size are in the map below */

enum { WAITING = 65536 /* of an epoch */ };

BPF_HASH(waiting, struct wait_thread_key, struct wait_thread, 2 * WAITING)

struct shares waiting_shares[2];	/* as aggregate_shares */

static __always_inline bool wait_enter(struct pt_regs *ctx, struct thread *t)
{
	__u64 id;

	if (!call_enter(ctx, t, &id))
		return false;
	if (wait_off_cpu)
		off_cpu_begin(t);
	/* here, as the call may destroy the stream */
	t->data.device = device_in(&t->device, cuda_arg(&t->call, cuda_rows[id].stream ?: cuda_rows[id].ctx));
	storage_show(&threads, bpf_get_current_task_btf(), &t->data.device, sizeof(t->data.device));
	if (aggregate_streams)
		t->data.stream = stream_in(&t->call, id);
	return true;
}

static __always_inline bool wait_inflight(const struct task_struct *task, const struct thread *t,
					 struct inflight_call *to)
{
	to->device = t->data.device;
	return inflight_outermost(t, to);
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
	__u64 now = bpf_ktime_get_ns(), ns = now - t->call.start, off;

	t->call.sp = 0;
	if (ns < wait_slower)
		return;
	key.device = t->data.device;
	if (aggregate_streams)
		key.stream = t->data.stream;
	if (!device_wanted(key.device))
		return;
	off = off_cpu_end(t, now, ns);
	thread_waited(t, key.epoch, ns);
	if (aggregate_stacks) {
		aggregate_send(ctx, t, &t->data.record, &key, ns, off, ns, false);
		return;
	}
	aggregate_add(&key, ns, off, ns, false);
	if (wait_off_cpu) {
		key.series = WAIT_OFF_CPU;
		aggregate_add(&key, off, 0, off, false);
	}
}

CUDA_PROGRAMS(wait_enter, wait_leave)

/* Loaded only on request: it runs at every switch of every CPU. */
SEC("tp_btf/sched_switch") int wait_switch(__u64 *ctx)
{
	off_cpu_switch((void *)ctx[1], (void *)ctx[2]);
	return 0;
}
