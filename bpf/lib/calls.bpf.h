/* SPDX-License-Identifier: GPL-2.0 */
/* Probes of functions of any class, which send a record at each
 * return, with the arguments that have a role in cuda_api.tbl. */
#ifndef LIB_CALLS_BPF_H
#define LIB_CALLS_BPF_H
#include <stdbool.h>
#include <linux/types.h>
#include "abi/bytes.h"
#include "abi/call_event.h"
#include "abi/stack_frames.h"

/* More than the bytes of any call stack; a power of two, as the verifier can track that bound. */
enum { CALL_STACK_MAX = 4096 };

struct call_data { struct bytes bytes; };
#define CALL_DATA struct call_data

struct thread_data {
	struct call_event event;	/* of its call in flight */
	char tail[CALL_STACK_MAX + CALL_NAME];	/* follows event in its record */
	struct call_event kept;		/* event, while it serves a USDT probe inside of the call */
};
#define THREAD_DATA struct thread_data

struct pt_regs;
struct thread;
static __always_inline bool calls_usdt_enter(struct pt_regs *ctx, struct thread *t);
#define CUDA_NESTED(ctx, t, id) bytes_nested(ctx, id, &(t)->call.data.bytes)
#define CUDA_USDT_ENTER calls_usdt_enter
#include "lib/bytes.bpf.h"
#include "lib/cuda.bpf.h"
#include "lib/launch.bpf.h"
#include "lib/processes.bpf.h"
#include "lib/inflight.bpf.h"
#include "lib/stack.bpf.h"
#include "lib/usdt.bpf.h"

/* Set by the tool. */
const volatile bool calls_usdt;		/* USDT probes of the table, too */
const volatile bool calls_stacks;	/* with user call stacks */
const volatile bool calls_failed_only;
const volatile __u64 calls_min;		/* bytes */
const volatile __u64 calls_slower;	/* ns: only calls that took at least this long */

static __always_inline void calls_launch(const struct call *call, __u64 id, struct call_event *e)
{
	const struct cuda_args *row = &cuda_rows[id];
	struct shape shape = {};
	__u64 func;

	launch_shape(call, row, cuda_libs[id] == CUDA_DRV, &func, &shape);
	if (!row->handle)
		e->args.func = func;
	if (row->params && !row->count)
		e->args.stream = read_u64(cuda_arg(call, row->params) + 32);
	__builtin_memcpy(e->grid, shape.grid, sizeof(e->grid));
	__builtin_memcpy(e->block, shape.block, sizeof(e->block));
}

static __always_inline bool calls_enter(struct pt_regs *ctx, struct thread *t)
{
	const struct cuda_args *row;
	struct call_event *e;
	__u64 id;

	if (!call_enter(ctx, t, &id))
		return false;
	row = &cuda_rows[id];
	e = &t->data.event;
#define X(role) e->args.role = cuda_arg(&t->call, row->role);
	CALL_ARGS(X)
#undef X
	bytes_enter(&t->call, id, &t->call.data.bytes);
	if (cuda_classes[id] == CUDA_LAUNCH)
		calls_launch(&t->call, id, e);
	return true;
}

/* At the return of a call that was begun: fills in the record; false if it is not wanted. */
static __always_inline bool calls_record(struct pt_regs *ctx, struct thread *t,
					 struct call_event *e)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	const struct cuda_args *row;
	__u64 id = t->call.id;

	if (id >= CUDA_ID_MAX)
		return false;
	id = bounded(id, CUDA_ID_MAX - 1);
	row = &cuda_rows[id];
	e->time = bpf_ktime_get_ns();
	e->start = t->call.start;
	e->ret = call_result(ctx, &t->call);
	e->bytes = bytes_leave(&t->call.data.bytes, e->ret);
	if ((calls_failed_only && !e->ret) || e->bytes < calls_min || e->time - e->start < calls_slower)
		return false;
	e->stored = row->out && !e->ret ? read_u64(t->call.args[1]) : 0;
	e->name_at = row->out && row->name == 1 ? e->stored : row->name ?
		     cuda_arg(&t->call, row->name) : 0;
	e->direction = t->call.data.bytes.direction;
	e->head.pid = task->tgid;
	e->head.kind = id;
	e->tid = task->pid;
	thread_comm(e->comm);
	return true;
}

/* Adds the stack and the name; returns their size in bytes. */
static __always_inline __u64 calls_tail(struct pt_regs *ctx, struct thread *t)
{
	struct call_event *e = &t->data.event;
	__u64 stack = 0;
	long name = 0;

	if (calls_stacks)
		stack = stack_bytes(stack_take(ctx, (__u64 *)t->data.tail, 0));
	if (e->name_at)
		name = bpf_probe_read_user_str(t->data.tail + stack, CALL_NAME, (void *)e->name_at);
	if (name < 0 || name > CALL_NAME)
		name = 0;
	e->head.frames = stack / 8;
	e->name_bytes = name;
	return stack + name;
}

static __always_inline void calls_send(struct pt_regs *ctx, struct thread *t, struct call_event *e)
{
	__u64 tail = calls_tail(ctx, t);
	bool first = false;

	if (!calls_stacks || process_known(t, e->head.pid, &first))
		records_send(e, sizeof(*e) + tail, first);
}

static __always_inline void calls_leave(struct pt_regs *ctx, struct thread *t)
{
	struct call_event *e = &t->data.event;
	bool wanted = calls_record(ctx, t, e);

	t->call.sp = 0;
	if (wanted)
		calls_send(ctx, t, e);
}

/* The record of a USDT probe, by its row of the table; it has no duration and cannot fail.  Returns false if it is not
 * wanted. */
static __always_inline bool calls_usdt_record(struct pt_regs *ctx, const struct usdt_args *args, __u64 id,
					      struct call_event *e)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	const struct cuda_args *row = &cuda_rows[id];

	if (calls_failed_only || calls_slower || !task_wanted())
		return false;
#define X(role) e->args.role = usdt_arg(ctx, args, row->role);
	CALL_ARGS(X)
#undef X
	e->bytes = usdt_arg(ctx, args, row->size);
	if (e->bytes < calls_min)
		return false;
	e->name_at = usdt_arg(ctx, args, row->name);
	e->time = e->start = bpf_ktime_get_ns();
	e->stored = e->direction = e->ret = 0;
	e->head.pid = task->tgid;
	e->head.kind = id;
	e->tid = task->pid;
	thread_comm(e->comm);
	return true;
}

static __always_inline bool calls_usdt_enter(struct pt_regs *ctx, struct thread *t)
{
	struct call_event *e = &t->data.event;
	const struct usdt_args *args;
	__u64 id;

	if (!calls_usdt)
		return false;
	args = usdt_here(ctx, &id);
	if (!args)
		return false;
	t->data.kept = *e;
	if (calls_usdt_record(ctx, args, id, e))
		calls_send(ctx, t, e);
	*e = t->data.kept;
	return true;
}

CUDA_PROGRAMS(calls_enter, calls_leave)

/* Needed only with call stacks: they get their names from the mappings. */
PROCESS_PROGRAMS(call_dropped)

char LICENSE[] SEC("license") = "GPL";
#endif
