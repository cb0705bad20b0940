// SPDX-License-Identifier: GPL-2.0
/* Counts launches, copies, waits, loads of code and errors by process, and reports each allocation, free and operation of NCCL: for
 * cudaexporter and cudatop. */
#include <stdbool.h>
#include <linux/types.h>
#include "abi/bytes.h"
#include "abi/cudaexporter.h"
#include "abi/memory_event.h"
#include "api/cuda_api.h"
#include "abi/launch.h"

struct call_data {
	__u64 ptr, arg2;	/* of memory; of a launch: number of kernels, enum launch_kind */
	struct bytes bytes;
};
#define CALL_DATA struct call_data

#define CUDA_BESIDE_ENDS(ctx, t) export_beside_ends(ctx, t)
#define CUDA_BESIDE_LEAVE(ctx, t) export_beside_leave(ctx, t)
#define FRAMES 4
#include "lib/failing.bpf.h"
#include "lib/kernel_calls.bpf.h"
#include "lib/layers.bpf.h"
#include "lib/loads.bpf.h"
#include "lib/nccl_calls.bpf.h"
#include "lib/overhead.bpf.h"

struct thread_data {
	union {			/* the record that is sent */
		struct memory_event event;
		struct launch_first first;
		struct nccl_event operation;
		struct export_wait wait;
	};
	struct kernel_calls kernels;
	struct nccl_call nccl;
	struct load_call load;
	struct failing_call failing;
	__u64 inside;		/* the driver's function that the launch in flight has launched */
	__u64 capture;		/* that the call in flight is part of; 0: none */
	__u64 reported;		/* the program that was reported to user space */
	/* for its call in flight: see lib/off_cpu.bpf.h */
	__u64 off_since, ran, off_ns, delay;
	__u32 device;		/* of the stream or context of the call in flight */
	struct overhead_thread overhead;
	struct layers layers;
};
#define THREAD_DATA struct thread_data

struct pt_regs;
struct thread;
struct task_struct;
struct inflight_call;
static __always_inline bool export_nested(struct pt_regs *ctx, struct thread *t, __u64 id);
#define CUDA_NESTED export_nested
static __always_inline bool export_inflight(const struct task_struct *task, const struct thread *t,
					   struct inflight_call *to);
#define INFLIGHT_TAKE export_inflight
static __always_inline bool export_enters(struct pt_regs *ctx, struct thread *t);
#define CUDA_ENTERS(ctx, t) export_enters(ctx, t)
#define CUDA_HIT(t) overhead_begins(&(t)->data.overhead)
#define CUDA_HIT_ENDS(t) overhead_ends(&(t)->data.overhead)
#include "lib/memory_call.bpf.h"
#include "lib/launch.bpf.h"
#include "lib/launch_device.bpf.h"
#include "lib/stack.bpf.h"
#include "lib/export_counts.bpf.h"
#include "lib/graph_calls.bpf.h"
#include "lib/call_samples.bpf.h"
#include "lib/off_cpu.bpf.h"
#include "lib/inflight.bpf.h"

/* Set by the tool. */
const volatile bool export_functions;	/* waits by function */
const volatile bool export_off_cpu;
const volatile bool export_nccl;
const volatile bool export_calls;	/* the time of calls by function, except waits and what has its own: see calls_count(); else only of those of handles */

/* Set by the tool: the probes are those of cuda_error_source. */
const volatile bool export_all_errors;

/* Their calls are followed to their returns. */
#define EXPORT_FOLLOWED (1u << CUDA_ALLOC | 1u << CUDA_FREE | 1u << CUDA_MAP | 1u << CUDA_UNMAP | 1u << CUDA_RESET |	\
			 1u << CUDA_COPY | 1u << CUDA_LAUNCH | 1u << CUDA_SYNC | 1u << CUDA_LOAD |			\
			 1u << CUDA_OPERATION | 1u << CUDA_COMM | 1u << CUDA_GROUP | 1u << CUDA_ASK)

static __always_inline bool export_enters(struct pt_regs *ctx, struct thread *t)
{
	return export_all_errors && task_wanted() && failing_enter(ctx, &t->data.failing, EXPORT_FOLLOWED, t->call.sp);
}

/* A call inside of another one counts as that, which returns its error. */
static __always_inline bool export_counts_as_other(const struct thread *t)
{
	return call_inside(t->call.sp, t->data.failing.sp);
}

static __always_inline void export_call_failed(const struct thread *t, const struct export_key *key, __u64 id, int ret)
{
	if (!export_counts_as_other(t))
		export_failed(key, id, ret);
}

/* Return true for a call that makes or destroys a handle, of which the number matters, or captures to one; id: of
 * cuda_error_source.  Loads have their own counts. */
static __always_inline bool counts_handle(__u64 id)
{
	if (id >= CUDA_ID_MAX)
		return false;
	id = bounded(id, CUDA_ID_MAX - 1);
	if (cuda_classes[id] == CUDA_RESET)
		return cuda_rows[id].ctx;
	if (cuda_captures_to(&cuda_rows[id]))
		return true;
	return cuda_rows[id].memory >= CUDA_CODE && cuda_classes[id] != CUDA_LOAD;
}

/* id: of cuda_error_source.  Not inline: its callers have much stack. */
GLOBAL_SUBPROG int count_call(__u64 program, __u32 pid, __u32 id, __u64 ns)
{
	struct export_key key = { .program = program, .pid = pid, .what = EXPORT_CALL, .id = id + 1 };
	struct export_values *v;
	bool own;

	v = export_values_of(&key, &own);
	if (!v)
		return 0;
	slot_add(own, &v->count, 1);
	slot_add(own, &v->ns, ns);
	return 0;
}

static __always_inline void failing_leave(struct pt_regs *ctx, struct thread *t)
{
	const bool counted = export_calls || counts_handle(t->data.failing.id);
	struct export_key key = {};
	int ret = PT_REGS_RC(ctx);

	t->data.failing.sp = 0;
	if (!(ret || counted) || !export_known(t, &t->data.reported, &key))
		return;
	if (counted)
		count_call(key.program, key.pid, t->data.failing.id, bpf_ktime_get_ns() - t->data.failing.start);
	if (ret)
		export_count_error(key.program, key.pid, t->data.failing.id, ret);
}

/* Bounds a call's size: programs can pass any number, and sums are shared. */
static __always_inline __u64 export_bytes(__u64 n)
{
	return n < EXPORT_BYTES_MAX ? n : EXPORT_BYTES_MAX;
}

static __always_inline void launch_arguments(struct call *call, const struct cuda_args *row)
{
	struct call_data *d = &call->data;

	d->ptr = row->count ? (__u32)cuda_arg(call, row->count) : 1;
	if (d->ptr > EXPORT_LAUNCHES_MAX)
		d->ptr = EXPORT_LAUNCHES_MAX;
	d->arg2 = launch_kind(call, row);
}

/* At the entry of a launch. */
static __always_inline void export_launch_enter(struct thread *t, __u64 id)
{
	const struct cuda_args *row = &cuda_rows[id];

	launch_arguments(&t->call, row);
	t->data.inside = 0;
	t->data.device = launch_device(t, row);
}

static __always_inline void operation_leave(struct pt_regs *ctx, struct thread *t)
{
	struct export_key key = {};

	if (export_known(t, &t->data.reported, &key))
		nccl_call_leave(ctx, &t->data.nccl, &t->device, t->program, &t->data.operation);
	else
		nccl_lose();
	t->data.nccl.call.sp = 0;
}

static __always_inline bool export_beside_ends(struct pt_regs *ctx, const struct thread *t)
{
	return kernel_call_ends(ctx, &t->data.kernels) || load_ends(ctx, &t->data.load) || failing_ends(ctx, &t->data.failing) ||
	       (export_nccl && nccl_call_ends(ctx, &t->data.nccl));
}

static __always_inline void count_load(struct thread *t);

NOINLINE_IN_USER void export_beside_leave(struct pt_regs *ctx, struct thread *t)
{
	if (load_ends(ctx, &t->data.load))
		count_load(t);
	if (failing_ends(ctx, &t->data.failing))
		failing_leave(ctx, t);
	if (export_nccl && nccl_call_ends(ctx, &t->data.nccl))
		operation_leave(ctx, t);
	else
		beside_leave(ctx, t);
}

/* A lookup of a kernel may load it; its name is followed with export_kernels only. */
COLD_IN_USER bool export_beside_enter(struct pt_regs *ctx, struct thread *t)
{
	const bool loads = task_wanted() && load_enter(ctx, &t->data.load);

	if (!export_kernels && cuda_classes[bounded(cuda_id(ctx), CUDA_ID_MAX - 1)] == CUDA_NAME)
		return loads;
	return beside_enter(ctx, t) || loads;
}

NOINLINE_IN_USER bool export_operation_enter(struct pt_regs *ctx, struct thread *t)
{
	return nccl_enter(ctx, t, &t->data.nccl, bounded(cuda_id(ctx), CUDA_ID_MAX - 1));
}

/* At the entry of a call that is no launch. */
NOINLINE_IN_USER void export_other_enter(struct pt_regs *ctx, struct thread *t, __u64 id)
{
	switch (cuda_classes[id]) {
	case CUDA_COPY:
		bytes_enter_copy(&t->call, id, &t->call.data.bytes);
		return;
	case CUDA_SYNC:
		off_cpu_begin(t);
		return;
	case CUDA_LOAD:
		load_enter(ctx, &t->data.load);
		return;
	}
	memory_arguments(&t->call, &cuda_rows[id]);
}

/* Return true at a function whose probes --max-overhead may detach. */
static __always_inline bool is_shed(__u64 id)
{
	return overhead_wanted && cuda_classes[id] == CUDA_LAUNCH && !cuda_rows[id].handle;
}

static __always_inline bool export_enter(struct pt_regs *ctx, struct thread *t)
{
	__u64 id;

	if (is_shed(bounded(cuda_id(ctx), CUDA_ID_MAX - 1)) && !launch_link_counts(ctx, true))
		return false;
	if (export_nccl && nccl_call_is(cuda_id(ctx)))
		return export_operation_enter(ctx, t);
	if (is_beside(ctx))
		return export_beside_enter(ctx, t);
	if (!(EXPORT_FOLLOWED & 1u << cuda_classes[bounded(cuda_id(ctx), CUDA_ID_MAX - 1)]))
		return task_wanted() && load_enter(ctx, &t->data.load);
	if (!call_enter(ctx, t, &id))
		return task_wanted() && load_enter(ctx, &t->data.load);
	t->data.capture = capture_now(t, id);
	if (cuda_classes[id] == CUDA_LAUNCH)
		export_launch_enter(t, id);
	else
		export_other_enter(ctx, t, id);
	return true;
}

static __always_inline bool export_nested(struct pt_regs *ctx, struct thread *t, __u64 id)
{
	__u64 outer = t->call.id;
	unsigned char class;

	if (outer >= CUDA_ID_MAX)
		return false;
	class = cuda_classes[bounded(outer, CUDA_ID_MAX - 1)];
	id = bounded(id, CUDA_ID_MAX - 1);
	if (class == CUDA_COPY)
		return bytes_nested(ctx, id, &t->call.data.bytes);
	if (export_kernels && class == CUDA_LAUNCH && cuda_classes[id] == CUDA_LAUNCH)
		export_launch_inside(ctx, t, id);
	return false;
}

static __always_inline bool export_inflight(const struct task_struct *task, const struct thread *t,
					   struct inflight_call *to)
{
	(void)task;
	return inflight_outermost(t, to);
}

NOINLINE_IN_USER void export_replayed(struct pt_regs *ctx, struct thread *t)
{
	nccl_launch_leave(ctx, &t->call, t->data.device, t->program, &t->data.operation);
}

/* returns: at the function's return, not at its entry. */
static __always_inline void count_launch(struct pt_regs *ctx, struct thread *t, struct export_key *key, __u64 id, bool returns)
{
	bool replays = export_nccl && nccl_captured && cuda_rows[id].handle;
	struct export_values *v;
	bool own;

	key->what = EXPORT_LAUNCH;
	key->detail = t->call.data.arg2;
	key->device = t->data.device;
	if (export_kernels || (replays && t->data.capture))
		export_kernel(ctx, t, key, id, returns);
	if (t->data.capture)
		return;
	if (replays)
		export_replayed(ctx, t);
	v = export_values_of(key, &own);
	if (!v)
		return;
	slot_add(own, &v->count, t->call.data.ptr);
	v->last = t->call.start;
}

static __always_inline void count_size(const struct export_key *key, struct export_values *v, bool own, __u64 id, __u64 size)
{
	__u32 bucket = bounded(export_size_bucket(digits_below(size)), EXPORT_SIZES - 1);

	slot_add(own, &v->bytes, size);
	slot_add(own, &v->sizes[bucket], 1);
	export_exemplar(key, EXPORT_OF_SIZES + bucket, id, size);
}

static __always_inline void count_time(const struct export_key *key, struct export_values *v, bool own, __u64 id, __u64 ns)
{
	__u32 bucket = bounded(export_time_bucket(digits_below(ns)), EXPORT_TIMES - 1);

	slot_add(own, &v->ns, ns);
	slot_add(own, &v->times[bucket], 1);
	export_exemplar(key, EXPORT_OF_TIMES + bucket, id, ns);
}

static __always_inline void count_copy(struct thread *t, struct export_key *key, __u64 id, __u64 now)
{
	bool async = cuda_rows[id].async, own;
	struct export_values *v;

	t->call.data.bytes.n = export_bytes(t->call.data.bytes.n);
	key->what = EXPORT_COPY;
	key->detail = (t->call.data.bytes.direction & (EXPORT_ASYNC - 1)) | (async ? EXPORT_ASYNC : 0);
	v = export_values_of(key, &own);
	if (!v)
		return;
	slot_add(own, &v->count, 1);
	count_size(key, v, own, id, t->call.data.bytes.n);
	if (!async)
		count_time(key, v, own, id, now - t->call.start);
}

static __always_inline void count_wait(struct thread *t, struct export_key *key, __u64 id, __u64 now)
{
	__u64 ns = now - t->call.start;
	struct export_values *v;
	bool own;

	key->what = EXPORT_SYNC;
	if (export_functions)
		key->id = id + 1;
	v = export_values_of(key, &own);
	if (!v)
		return;
	slot_add(own, &v->count, 1);
	count_time(key, v, own, id, ns);
	if (export_off_cpu)
		slot_add(own, &v->off_ns, off_cpu_end(t, now, ns));
}

/* Reports the wait with its call stack. */
static __always_inline void send_wait(struct pt_regs *ctx, struct thread *t, __u64 id, __u64 now)
{
	const __u64 head = offsetof(struct export_wait, stack);
	struct export_wait *e = &t->data.wait;
	__u32 n = stack_take(ctx, e->stack, 0);

	e->head.pid = thread_pid();
	e->head.kind = EXPORT_WAIT;
	e->head.frames = n;
	e->ns = now - t->call.start;
	e->id = id;
	e->unused = 0;
	thread_comm(e->comm);
	records_send(e, head + stack_bytes(n), false);
}

static __always_inline void count_load(struct thread *t)
{
	struct export_key key = {};
	struct export_values *v;
	bool own;

	if (export_known(t, &t->data.reported, &key)) {
		key.what = EXPORT_LOAD;
		key.detail = cuda_rows[bounded(t->data.load.id, CUDA_ID_MAX - 1)].memory == CUDA_CODE;
		v = export_values_of(&key, &own);
		if (v) {
			slot_add(own, &v->count, 1);
			count_time(&key, v, own, t->data.load.id, bpf_ktime_get_ns() - t->data.load.start);
		}
	}
	t->data.load.sp = 0;
}

/* It did not run. */
static __always_inline void export_captured(struct thread *t, unsigned char class)
{
	struct captured c = {
		.capture = t->data.capture, .program = t->program, .pid = thread_pid(), .bytes = t->call.data.bytes.n,
		.kind = node_of_class(class),
	};

	if (class == CUDA_COPY)
		c.direction = t->call.data.bytes.direction;
	if (export_kernels && (class == CUDA_COPY || class == CUDA_ALLOC || class == CUDA_FREE))
		graph_captured_call(&c);
}

static __always_inline void send_memory(struct pt_regs *ctx, struct thread *t, __u64 id)
{
	struct memory_event *e = &t->data.event;
	__u32 n = 0;

	e->ret = 0;
	memory_address(&t->call, &cuda_rows[id], e);
	memory_place(t, id, &cuda_rows[id], e);
	if (export_stacks && cuda_classes[id] == CUDA_ALLOC)
		n = stack_take(ctx, e->stack, 0);
	e->head.frames = n;
	records_send(e, offsetof(struct memory_event, stack) + stack_bytes(n), false);
}

/* Return true for a call whose time count_call() adds up. */
static __always_inline bool calls_count(unsigned char class)
{
	return export_calls && class != CUDA_LAUNCH && class != CUDA_SYNC && class != CUDA_LOAD;
}

/* At the return of a call that is no launch. */
NOINLINE_IN_USER void export_other_leave(struct pt_regs *ctx, struct thread *t, struct export_key *key, __u64 id, __u64 now)
{
	unsigned char class = cuda_classes[id];
	int ret = PT_REGS_RC(ctx);

	if ((calls_count(class) || counts_handle(id)) && !export_counts_as_other(t))
		count_call(key->program, key->pid, id, now - t->call.start);
	if (ret)
		export_call_failed(t, key, id, ret);
	else if (t->data.capture)
		export_captured(t, class);
	else if (class == CUDA_COPY)
		count_copy(t, key, id, now);
	else if (class != CUDA_SYNC && class != CUDA_LOAD && !context_stays(&t->call, &cuda_rows[id]))
		send_memory(ctx, t, id);
	if (class != CUDA_SYNC)
		return;
	count_wait(t, key, id, now);
	if (export_stacks)
		send_wait(ctx, t, id, now);
	if (!ret)
		export_recovered(key);
}

static __always_inline void export_leave(struct pt_regs *ctx, struct thread *t)
{
	__u64 id = bounded(t->call.id, CUDA_ID_MAX - 1), now = 0;
	unsigned char class = cuda_classes[id];
	struct export_key key = {};
	int ret = PT_REGS_RC(ctx);

	if (class == CUDA_COPY || class == CUDA_SYNC || calls_count(class))
		now = bpf_ktime_get_ns();
	if (export_known(t, &t->data.reported, &key)) {
		export_hit(class);
		if (class != CUDA_LAUNCH) {
			export_other_leave(ctx, t, &key, id, now);
		} else if (ret) {
			export_call_failed(t, &key, id, ret);
		} else {
			count_launch(ctx, t, &key, id, true);
			export_recovered(&key);
		}
	}
	t->call.sp = 0;
}

CUDA_PROGRAMS(export_enter, export_leave)

/* Counts a launch of a kernel at its entry, whose return is not probed: it may still fail. */
static __always_inline void launch_entered(struct pt_regs *ctx, struct thread *t)
{
	struct export_key key = {};
	__u64 id;

	t->data.overhead.entries++;
	if (!launch_link_counts(ctx, false))
		return;
	if (t->call.sp && is_shed(bounded(t->call.id, CUDA_ID_MAX - 1)))	/* its return is not probed any more */
		t->call.sp = 0;
	if (!call_enter(ctx, t, &id))
		return;
	if (cuda_libs[id] == CUDA_DRV && layers_inside(&t->data.layers, t->call.sp, bpf_get_attach_cookie(ctx))) {
		t->call.sp = 0;
		return;
	}
	t->data.capture = capture_now(t, id);
	export_launch_enter(t, id);
	if (export_known(t, &t->data.reported, &key)) {
		export_hit(CUDA_LAUNCH);
		count_launch(ctx, t, &key, id, false);
	}
	t->call.sp = 0;
}

/* In place of the programs above, at functions that launch kernels, in a process above --max-overhead. */
SEC("uprobe") int cuda_launch(struct pt_regs *ctx)
{
	struct thread *t = thread_at(ctx);

	if (!t)
		return 0;
	CUDA_HIT(t);
	launch_entered(ctx, t);
	CUDA_HIT_ENDS(t);
	return 0;
}

/* At a function of the tool itself, which measures what a trap costs. */
SEC("uprobe") int cuda_empty(struct pt_regs *ctx)
{
	(void)ctx;
	return 0;
}

static __always_inline void export_dropped(struct thread *t)
{
	calls_dropped(t);
	t->data.nccl.call.sp = 0;
	t->data.load.sp = 0;
	t->data.failing.sp = 0;
}

PROCESS_PROGRAMS(export_dropped)

/* Loaded with export_kernels only: a child has the same kernels at the same addresses. */
SEC("raw_tp/sched_process_fork") int process_fork(struct bpf_raw_tracepoint_args *ctx)
{
	process_forked(ctx);
	return 0;
}

/* Loaded only on request: it runs at every switch of every CPU. */
SEC("tp_btf/sched_switch") int export_switch(__u64 *ctx)
{
	off_cpu_switch((void *)ctx[1], (void *)ctx[2]);
	return 0;
}

#ifdef __bpf__
/* Loaded only on request: it runs on each CPU every CALL_SAMPLE_NS.  A call that is timed otherwise is not sampled. */
SEC("perf_event") int call_sample(void *ctx)
{
	const struct thread *t = thread_known();
	__u64 id = CUDA_ID_MAX;

	if (t && (t->data.load.sp || t->data.failing.sp || t->data.nccl.call.sp))
		return 0;
	if (t && t->call.sp)
		id = t->call.id;
	if (id < CUDA_ID_MAX && cuda_classes[bounded(id, CUDA_ID_MAX - 1)] != CUDA_LAUNCH)
		return 0;
	if (task_wanted())
		call_sampled(ctx, id);
	return 0;
}
#endif

char LICENSE[] SEC("license") = "GPL";

