// SPDX-License-Identifier: GPL-2.0
/* Copies by direction. */
#include <stdbool.h>
#include <linux/types.h>
#include "abi/bytes.h"
#include "api/cuda_api.h"
#include "abi/cudamemcpysize.h"
#include "abi/aggregate_group.h"
#include "abi/launch.h"

struct call_data {
	struct bytes bytes;	/* the direction may also be COPY_SET */
	__u64 stream;		/* as passed */
	__u64 capture;		/* that it is part of; 0: none */
};
#define CALL_DATA struct call_data

#define FRAMES 4
#include "lib/kernel_calls.bpf.h"

struct thread_data {
	union {			/* what is sent at a return */
		struct aggregate_record record;
		struct launch_first first;
	};
	struct kernel_calls kernels;
};
#define THREAD_DATA struct thread_data

struct thread;
static __always_inline void calls_dropped(struct thread *t);
#define AGGREGATE_DROPPED calls_dropped
#define CUDA_NESTED(ctx, t, id) bytes_nested(ctx, id, &(t)->call.data.bytes)
#include "lib/bytes.bpf.h"
#include "lib/cuda.bpf.h"
#include "lib/aggregate.bpf.h"
#include "lib/call.bpf.h"
#include "lib/call_device.bpf.h"
#include "lib/graph_calls.bpf.h"
#include "lib/launch_counts.bpf.h"
#include "lib/launch_device.bpf.h"
#include "lib/pinned.bpf.h"

/* Set by the tool. */
const volatile __u32 copy_shown;	/* enum copy_shown */
const volatile __u32 copy_direction;	/* only this one; 0 = all */
const volatile bool copy_host;		/* copies are grouped by the memory on the host's side */
const volatile __u64 copy_min;
const volatile __u64 copy_slower;	/* ns: only calls that took at least this long */

/* Return true if the copy is selected, by what is known of it so far. */
static __always_inline bool copy_selected(const struct call *call)
{
	const struct bytes *b = &call->data.bytes;
	__u64 id = call->id;

	if (id >= CUDA_ID_MAX || b->n < copy_min || (copy_direction && copy_direction != b->direction))
		return false;
	if (cuda_classes[bounded(id, CUDA_ID_MAX - 1)] != CUDA_COPY && cuda_classes[bounded(id, CUDA_ID_MAX - 1)] != CUDA_SET)
		return false;
	return copy_shown == COPY_SIZES || !cuda_rows[bounded(id, CUDA_ID_MAX - 1)].async;
}

struct inflight_call;
static __always_inline bool copy_inflight(const struct task_struct *task, const struct thread *t,
					 struct inflight_call *to);
#define INFLIGHT_TAKE copy_inflight
#include "lib/inflight.bpf.h"

/* As an end in peers_of_call(). */
static __always_inline __u32 inflight_end(const struct task_struct *task, bool driver, __u64 passed)
{
	return driver ? inflight_handle(task, passed) : device_number(passed);
}

/* As copy_devices(); the parameters of a copy that has them in memory cannot be read from here. */
static __always_inline void inflight_devices(const struct task_struct *task, const struct thread *t,
					    struct inflight_call *to)
{
	__u64 id = bounded(t->call.id, CUDA_ID_MAX - 1);
	const struct cuda_args *row = &cuda_rows[id];
	bool driver = cuda_libs[id] == CUDA_DRV;

	if (row->direction != CUDA_PTOP) {
		to->device = inflight_in(task, &t->device, t->call.data.stream);
	} else if (row->from) {
		to->device = inflight_end(task, driver, t->call.args[bounded(row->from, CALL_REGISTERS)]);
		to->peer = inflight_end(task, driver, t->call.args[bounded(row->to, CALL_REGISTERS)]);
	}
}

static __always_inline bool copy_inflight(const struct task_struct *task, const struct thread *t,
					 struct inflight_call *to)
{
	if (!inflight_outermost(t, to) || !copy_selected(&t->call))
		return false;
	inflight_devices(task, t, to);
	return true;
}

static __always_inline bool copy_enter(struct pt_regs *ctx, struct thread *t)
{
	__u64 id;

	if (is_beside(ctx))
		return beside_enter(ctx, t);
	if (copy_host && pinned_passes(ctx, t, cuda_id(ctx)))
		return false;
	if (!call_enter(ctx, t, &id))
		return false;
	if (cuda_classes[id] == CUDA_ALLOC)
		return true;
	t->call.data.capture = capture_now(t, id);
	if (cuda_classes[id] == CUDA_LAUNCH)
		return true;
	bytes_enter_copy(&t->call, id, &t->call.data.bytes);
	if (cuda_classes[id] == CUDA_SET)
		t->call.data.bytes.direction = COPY_SET;
	t->call.data.stream = cuda_arg(&t->call, cuda_rows[id].stream);
	return true;
}

static __always_inline __u64 per_second(__u64 bytes, __u64 ns)
{
	const __u64 second = 1000000000;

	if (!ns)
		ns = 1;
	return bytes < 1ull << 34 ? bytes * second / ns : bytes / ns * second;
}

/* Sets the devices in the key; returns false if the copy is on none that is wanted. */
static __always_inline bool copy_devices(struct thread *t, __u64 id, struct aggregate_key *key)
{
	__u32 ends[2];

	if (!peers_of_call(&t->call, &cuda_rows[id], cuda_libs[id] == CUDA_DRV, ends)) {
		key->device = device_in(&t->device, t->call.data.stream);
		return device_wanted(key->device);
	}
	key->device = ends[0];
	key->peer = ends[1];
	return device_config.only & device_bit(key->peer) || device_wanted(key->device);
}

/* A launch of a graph: what it copies is known to user space. */
static __always_inline void replay_leave(struct pt_regs *ctx, struct thread *t, __u64 id)
{
	struct launch_key key = { .device = launch_device(t, &cuda_rows[id]) };
	struct launch_count *c;
	__u32 n = 0;

	if (PT_REGS_RC(ctx) || !device_wanted(key.device) || !graph_launched(t, &key, t->call.data.capture))
		return;
	if (aggregate_streams)
		key.stream = stream_in(&t->call, id);
	if (aggregate_stacks) {
		n = stack_take(ctx, t->data.first.stack, 0);
		key.stack = stack_hash((void *)t->data.first.stack, n);
	}
	c = count_of(&t->data.first, &key, cuda_libs[id] == CUDA_DRV, stack_bytes(n));
	if (!c)
		return;
	__sync_fetch_and_add(&c->launches, 1);
	c->time = bpf_jiffies64();
}

static __always_inline void copy_captured(struct pt_regs *ctx, struct thread *t, __u64 id)
{
	const struct bytes *b = &t->call.data.bytes;
	struct captured c = {
		.capture = t->call.data.capture, .program = t->program, .pid = thread_pid(),
		.kind = node_of_class(cuda_classes[id]), .bytes = b->n, .direction = b->direction,
	};

	if (!PT_REGS_RC(ctx))
		graph_captured_call(&c);
}

static __always_inline void copy_leave(struct pt_regs *ctx, struct thread *t)
{
	const struct bytes *b = &t->call.data.bytes;
	__u64 id = bounded(t->call.id, CUDA_ID_MAX - 1), ns = bpf_ktime_get_ns() - t->call.start;
	__u64 size = b->n, shown = size;
	__u32 direction = b->direction;
	bool failed = (__u32)PT_REGS_RC(ctx);
	struct aggregate_key key;

	t->call.sp = 0;
	if (copy_host && cuda_classes[id] == CUDA_ALLOC) {
		pinned_leave(t, id, failed);
		return;
	}
	if (cuda_classes[id] == CUDA_LAUNCH) {
		replay_leave(ctx, t, id);
		return;
	}
	if (t->call.data.capture) {
		copy_captured(ctx, t, id);
		return;
	}
	if (!copy_selected(&t->call) || (copy_slower && ns < copy_slower))
		return;
	if (copy_host)
		direction |= pinned_of_copy(t, id, b->direction) << COPY_HOST_SHIFT;
	if (cuda_rows[id].async) {
		direction |= COPY_ASYNC;
		if (direction >> COPY_HOST_SHIFT != HOST_PAGEABLE)
			ns = 0;
	}
	if (copy_shown == COPY_TIMES)
		shown = ns;
	else if (copy_shown == COPY_BANDWIDTHS)
		shown = per_second(size, ns);
	key = aggregate_key(direction);
	if (!copy_devices(t, id, &key))
		return;
	if (aggregate_streams)
		key.stream = stream_passed(t->call.data.stream, id);
	aggregate_call(ctx, t, &t->data.record, &key, &(struct aggregated){ size, ns, shown, failed });
}

CUDA_PROGRAMS(copy_enter, copy_leave)
