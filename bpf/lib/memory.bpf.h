/* SPDX-License-Identifier: GPL-2.0 */
/* Probes of the functions that allocate and free memory: one record at each return, and one when a
 * process that sent one ends or is replaced by exec. */
#ifndef LIB_MEMORY_BPF_H
#define LIB_MEMORY_BPF_H
#include <stdbool.h>
#include <linux/types.h>

#include "abi/bytes.h"
#include "abi/launch.h"
#include "abi/memory_event.h"

struct call_data {
	__u64 ptr, arg2;
	struct bytes bytes;
	__u64 capture;		/* that the call is part of; 0: none */
};
#define CALL_DATA struct call_data

#define CUDA_BESIDE_ENDS(ctx, t) memory_beside_ends(ctx, t)
#define CUDA_BESIDE_LEAVE(ctx, t) memory_beside_leave(ctx, t)
#define FRAMES 4
#include "lib/handle_calls.bpf.h"
#include "lib/kernel_calls.bpf.h"

struct thread_data {
	struct memory_event event;
	struct handle_calls handles;
	struct launch_first first;
	struct kernel_calls kernels;
};
#define THREAD_DATA struct thread_data

/* Set by the tool: calls that allocate get a start, too; others always do. */
const volatile bool memory_latencies;
const volatile bool memory_stacks;	/* user call stacks of successful allocations */
const volatile bool memory_graphs;	/* what is captured, and launches of graphs, in place of records of captured calls */

struct pt_regs;
struct thread;
static __always_inline bool tensor_enter(struct pt_regs *ctx, struct thread *t);
#define CUDA_USDT_ENTER tensor_enter
#define GRAPH_STACKS (memory_graphs && memory_stacks)
#define CUDA_TIMED(id) (memory_latencies || (id < CUDA_ID_MAX && cuda_classes[id] != CUDA_ALLOC))
#include "lib/cuda.bpf.h"
#include "lib/memory_call.bpf.h"
#include "lib/processes.bpf.h"
#include "lib/stack.bpf.h"
#include "lib/graph_calls.bpf.h"
#include "lib/launch_device.bpf.h"
#include "lib/usdt.bpf.h"

/* Set by the tool. */
const volatile bool memory_stacks_all;	/* call stacks of every other call, too */
const volatile __u32 memory_sample = 1;	/* record one allocation in this many */
const volatile bool memory_failed_only;
const volatile bool memory_failures;	/* failed calls are wanted, too */
const volatile bool memory_tensors;	/* USDT probes of allocators above CUDA, too */
const volatile __u64 memory_min, memory_max = ~0ull; /* sizes of allocations */

/* Functions of which only the device matters are probed, too. */
static __always_inline bool is_memory(__u64 id)
{
	if (id >= CUDA_ID_MAX)
		return false;
	id = bounded(id, CUDA_ID_MAX - 1);
	return !memory_handles ? cuda_classes[id] != CUDA_CTX : cuda_rows[id].memory == CUDA_ARRAY || cuda_classes[id] == CUDA_RESET;
}

static __always_inline bool memory_enter(struct pt_regs *ctx, struct thread *t)
{
	__u64 id = cuda_id(ctx);

	if (is_handle(id))
		return task_wanted() && handle_enter(ctx, &t->data.handles, &t->data.kernels.call);
	if (!is_memory(id))
		return false;
	if (is_beside(ctx))
		return beside_enter(ctx, t);
	if (!call_enter(ctx, t, &id))
		return false;
	t->call.data.capture = cuda_rows[id].stream ? capture_now(t, id) : 0;
	if (cuda_classes[id] != CUDA_LAUNCH)
		memory_arguments(&t->call, &cuda_rows[id]);
	return true;
}

/* Return true if the options leave out this allocation.  Those without a size may be another
 * reference to recorded memory: user space decides. */
static __always_inline bool memory_left_out(const struct cuda_args *row, __u64 size)
{
	if (!row->size && !row->shape)
		return false;
	if (size < memory_min || size > memory_max)
		return true;
	return memory_sample > 1 && bpf_get_prandom_u32() % memory_sample;
}

/* At the return of a call that was begun: fills in the record; false if it is not wanted. */
static __always_inline bool memory_record(struct pt_regs *ctx, struct thread *t,
					  struct memory_event *e)
{
	__u64 id = t->call.id;
	const struct cuda_args *row;
	unsigned char class;

	if (id >= CUDA_ID_MAX)
		return false;
	id = bounded(id, CUDA_ID_MAX - 1);
	row = &cuda_rows[id];
	class = cuda_classes[id];
	e->ret = PT_REGS_RC(ctx);
	if (e->ret ? !memory_failures : memory_failed_only)
		return false;
	if (context_stays(&t->call, row))
		return false;
	memory_address(&t->call, row, e);
	if (class == CUDA_ALLOC && memory_left_out(row, e->size))
		return false;
	memory_place(t, id, row, e);
	/* only counts those of an unknown device: user space decides, also about frees, and knows what is retained */
	if (class == CUDA_ALLOC && !e->ret && row->memory != CUDA_HOST && id != CUDA_ID_cuMemRetainAllocationHandle)
		device_wanted(e->device);
	return true;
}

/* Sends the record, with the stack if that is wanted. */
static __always_inline void memory_send(struct pt_regs *ctx, struct thread *t, struct memory_event *e)
{
	const __u64 head = offsetof(struct memory_event, stack);
	const __u64 id = e->head.kind;
	bool stack, first;
	__u32 n = 0;

	if (!process_known(t, e->head.pid, &first))
		return;
	stack = memory_stacks && (memory_stacks_all ||
				  (!e->ret && id < CUDA_ID_MAX &&
				   (cuda_classes[id] == CUDA_ALLOC || (is_handle(id) && makes_handle(&cuda_rows[id])))));
	if (stack)
		n = stack_take(ctx, e->stack, 0);
	e->head.frames = n;
	records_send(e, head + stack_bytes(n), first);
}

static __always_inline void memory_captured(struct pt_regs *ctx, struct thread *t, __u64 id)
{
	struct captured c = {
		.capture = t->call.data.capture, .pid = thread_pid(), .bytes = t->call.data.bytes.n,
		.kind = node_of_class(cuda_classes[id]),
	};
	bool first;

	if (PT_REGS_RC(ctx) || !process_known(t, c.pid, &first))
		return;
	c.program = t->program;
	c.at = cuda_rows[id].out ? read_u64(t->call.data.ptr) : t->call.data.ptr;
	c.device = memory_device(t, &cuda_rows[id]);
	graph_captured_call(&c);
}

/* A launch of a graph: what it does is known to user space. */
static __always_inline void memory_launched(struct pt_regs *ctx, struct thread *t, __u64 id)
{
	struct launch_event e = { .key.device = launch_device(t, &cuda_rows[id]) };

	if (PT_REGS_RC(ctx) || !graph_launched(t, &e.key, t->call.data.capture))
		return;
	e.subject = e.key.func;
	e.time = bpf_ktime_get_ns();
	e.owner = t->call.start;
	send_event(&e, e.key.pid, e.key.program, LAUNCH_REPLAYED, false);
}

static __always_inline void memory_leave(struct pt_regs *ctx, struct thread *t)
{
	__u64 id = bounded(t->call.id, CUDA_ID_MAX - 1);
	struct memory_event *e = &t->data.event;
	bool wanted = false;

	if (cuda_classes[id] == CUDA_LAUNCH)
		memory_launched(ctx, t, id);
	else if (memory_graphs && t->call.data.capture)
		memory_captured(ctx, t, id);
	else
		wanted = memory_record(ctx, t, e);
	t->call.sp = 0;
	if (!wanted)
		return;
	e->captured = t->call.data.capture && !e->ret;
	memory_send(ctx, t, e);
}

static __always_inline bool memory_beside_ends(struct pt_regs *ctx, const struct thread *t)
{
	return kernel_call_ends(ctx, &t->data.kernels) || handle_ends(ctx, &t->data.handles);
}

/* A handle was made or destroyed. */
static __always_inline void handle_leave(struct pt_regs *ctx, struct thread *t)
{
	__u64 at = frames_pop(&t->data.handles.frames, ctx), id;
	struct memory_event *e = &t->data.event;
	const struct handle_call *c;

	if (at >= FRAMES)
		return;
	c = &t->data.handles.of[bounded(at, FRAMES - 1)];
	id = bounded(c->id, CUDA_ID_MAX - 1);
	e->ret = PT_REGS_RC(ctx);
	if (e->ret)
		return;
	memory_place(t, id, &cuda_rows[id], e);
	e->ptr = makes_handle(&cuda_rows[id]) ? read_u64(c->handle) : c->handle;
	e->size = c->size;
	e->start = c->start;
	e->stream = 0;
	e->device = cuda_rows[id].anywhere ? 0 : c->device ?: device_here(&t->device);
	memory_send(ctx, t, e);
}

static __always_inline void memory_beside_leave(struct pt_regs *ctx, struct thread *t)
{
	if (handle_ends(ctx, &t->data.handles))
		handle_leave(ctx, t);
	else
		beside_leave(ctx, t);
}

/* The record of a USDT probe, by its row of the table: an allocation or a free that is done.  Returns false if it is not
 * wanted. */
static __always_inline bool tensor_record(struct pt_regs *ctx, const struct usdt_args *args, __u64 id,
					  struct memory_event *e)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	const struct cuda_args *row = &cuda_rows[id];

	if (memory_failed_only || !task_wanted())
		return false;
	e->size = usdt_arg(ctx, args, row->size);
	if (cuda_classes[id] == CUDA_ALLOC && memory_left_out(row, e->size))
		return false;
	e->ptr = usdt_arg(ctx, args, row->ptr);
	e->stream = usdt_arg(ctx, args, row->stream);
	e->device = row->dev ? device_number(usdt_arg(ctx, args, row->dev)) : 0;
	e->time = e->start = bpf_ktime_get_ns();
	e->arg2 = e->location = 0;
	e->ret = 0;
	e->captured = 0;
	e->head.pid = task->tgid;
	e->head.kind = id;
	e->tid = task->pid;
	thread_comm(e->comm);
	return true;
}

static __always_inline bool tensor_enter(struct pt_regs *ctx, struct thread *t)
{
	const struct usdt_args *args;
	__u64 id;

	if (!memory_tensors)
		return false;
	args = usdt_here(ctx, &id);
	if (args && tensor_record(ctx, args, id, &t->data.event))
		memory_send(ctx, t, &t->data.event);
	return args;
}

CUDA_PROGRAMS(memory_enter, memory_leave)

static __always_inline void memory_dropped(struct thread *t)
{
	calls_dropped(t);
	t->data.handles.frames.used = 0;
}

PROCESS_PROGRAMS(memory_dropped)

char LICENSE[] SEC("license") = "GPL";
#endif
