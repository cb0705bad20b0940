// SPDX-License-Identifier: GPL-2.0
/* Counts kernel launches at their entries.  Returns are probed only of the functions that name kernels, which are rare, and
 * with -x of launches.
 *
 * Each launch counts once: at the runtime's entry, and not at the driver's entry inside it.  With
 * no return probe the end of the runtime's call is unseen, so its entry records its stack
 * pointer and return address.  A driver call is inside it if, on the same thread,
 * - its own stack pointer is lower, by less than the runtime's frames take,
 * - the stack still holds that return address where it was (machine/returns.bpf.h): a call made after the return from
 *   the same or a shallower place has overwritten it,
 * - it launches the same grid of the same blocks, or the same graph, and
 * - it is the first since then: the runtime makes one for each of its own.
 * So a launch that fails inside the runtime hides no later driver launch, unless that is made from
 * deeper in the stack, in frames that happen to leave the old return address in place, and with the
 * same grid and block: it cannot be distinguished from a launch inside.  A launch by the same call
 * instruction is recognized by the runtime's entry, which always counts.
 *
 * The tool detaches the probes of the runtime's launches once it has the name of each function of
 * the driver (launch_probes.h): then the driver's entry counts, at the cost of one probe. */
#include <stdbool.h>
#include <linux/types.h>
#include "abi/launch.h"

#define FRAMES 4
/* a program names thousands of kernels when it starts */
#define RECORDS_BYTES (8 * 1024 * 1024)
#include "lib/frames.bpf.h"
#include "lib/graph.bpf.h"
#include "lib/host_time.bpf.h"
#include "lib/launch.bpf.h"
#include "lib/layers.bpf.h"
#include "lib/launch_counts.bpf.h"
#include "lib/launch_names.bpf.h"

/* For a frame: a call whose return is probed. */
struct launch_frame {
	union {
		struct name_call name;	/* of a function that names a kernel */
		struct graph_call graph;	/* that makes or changes a graph */
		struct captured captured;	/* of another kind, that is captured */
		struct launch_key key;	/* of a launch */
	};
	__u32 id;
};

struct thread_data {
	struct {		/* the runtime launch entered last */
		__u64 sp;	/* 0 = none, or its driver launch was seen */
		__u64 caller;
		struct launch_key key;
		__u32 grid[3], block[3];
		bool paired;
	} outer;
	struct frames frames;
	struct launch_frame of_frame[FRAMES];
	struct launch_first first;
	struct host_thread host;
	struct layers layers;
	__u64 copy_sp, copy_caller;	/* of the runtime copy or memset entered last */
	__u64 capture;		/* that the thread has begun */
	__u32 registered;	/* kernels, by the program */
	/* of the launch that is entered: together with the unwinder's they would not fit the stack */
	struct launch_key key;
	struct shape shape;
};
#define THREAD_DATA struct thread_data

#include "lib/cuda.bpf.h"
#include "lib/launch_device.bpf.h"
#include "lib/processes.bpf.h"
#include "lib/stack.bpf.h"
#include "lib/call.bpf.h"

const volatile bool launch_failures;	/* -x */
const volatile bool launch_stacks;
const volatile bool launch_streams;	/* count by stream */
const volatile bool launch_graphs;	/* show graphs: where they are made, their copies and memory */
const volatile bool launch_each;	/* send a record of each launch */
const volatile bool launch_hosts;	/* send what threads do between launches and copies */
const volatile bool launch_pairs;	/* launches of both the runtime and the driver are probed */

/* Runtime launches that did not reach the driver. */
__u64 launches_refused;

enum { RUNTIME_STACK = 64 * 1024 };

/* The program that the thread runs; 0 if nothing of it can be recorded. */
static __always_inline __u64 program_of(struct thread *t, __u32 pid)
{
	bool first;

	return process_known(t, pid, &first) ? t->program : 0;
}

/* Reads the kernel, shape and number of a launch; sets func and kind of key. */
static __always_inline __u64 launch_arguments(const struct call *call, const struct cuda_args *row,
					      bool driver, struct launch_key *key, struct shape *s)
{
	key->kind = launch_kind(call, row);
	return launch_shape(call, row, driver, &key->func, s);
}

static __always_inline bool same_shape(const struct thread *t, const struct shape *s)
{
	const __u32 *grid = t->data.outer.grid, *block = t->data.outer.block;

	return grid[0] == s->grid[0] && grid[1] == s->grid[1] && grid[2] == s->grid[2] &&
	       block[0] == s->block[0] && block[1] == s->block[1] && block[2] == s->block[2];
}

/* Return true if the remembered runtime launch made this driver launch.  Where a return is probed,
 * by any tool, the address of the kernel's trampoline replaces the return address: the start of a
 * page. */
static __always_inline bool is_inside(struct pt_regs *ctx, struct thread *t, __u64 sp, const struct launch_key *key,
				      const struct shape *s)
{
	__u64 pc;

	if (sp >= t->data.outer.sp) {
		t->data.outer.sp = 0;
		return false;
	}
	if (t->data.outer.sp - sp > RUNTIME_STACK)
		return false;
	pc = return_stored(ctx, t->data.outer.sp);
	if (!pc || (pc != t->data.outer.caller && pc & 0xfff)) {
		t->data.outer.sp = 0;
		return false;
	}
	if (key->kind == LAUNCH_GRAPH || t->data.outer.key.kind == LAUNCH_GRAPH)
		return key->kind == t->data.outer.key.kind && key->func == t->data.outer.key.func;
	return same_shape(t, s);
}

/* The driver's function of a kernel may have a name where the runtime's handle has none. */
static __always_inline void pair(struct thread *t, const struct launch_key *key)
{
	struct launch_count *c;

	if (t->data.outer.paired || key->kind == LAUNCH_GRAPH)
		return;
	c = quick_count(&t->data.outer.key);
	if (!c)
		c = bpf_map_lookup_elem(&counts, &t->data.outer.key);
	if (c)
		c->paired = 1;
	send_pair(t->pid, t->program, t->data.outer.key.func, key->func);
}

/* Return true if the shape is unchanged.  The driver's last number, the block's z, is on the stack:
 * reading it would cost as much as all the rest of this.  So it is checked only when one of the
 * others has changed, and now and then. */
static __always_inline bool shape_stays(const struct call *call, const struct cuda_args *row,
					bool driver, const struct launch_count *c)
{
	__u64 grid = cuda_arg(call, row->grid), block = cuda_arg(call, row->block);

	if (driver)
		return c->launches % 256 && (__u32)grid == c->grid[0] &&
		       (__u32)cuda_arg(call, row->grid + 1) == c->grid[1] &&
		       (__u32)cuda_arg(call, row->grid + 2) == c->grid[2] &&
		       (__u32)block == c->block[0] &&
		       (__u32)cuda_arg(call, row->block + 1) == c->block[1];
	return (__u32)grid == c->grid[0] && grid >> 32 == c->grid[1] &&
	       (__u32)cuda_arg(call, row->grid + 1) == c->grid[2] &&
	       (__u32)block == c->block[0] && block >> 32 == c->block[1] &&
	       (__u32)cuda_arg(call, row->block + 1) == c->block[2];
}

/* Counts a launch like an earlier one, at the least cost.  Returns false, with nothing done, if it
 * is not like one or may be part of another. */
static __always_inline bool launch_again(struct thread *t, const struct cuda_args *row, __u64 id,
					 bool driver)
{
	struct launch_key key;
	struct launch_count *c;

	if (launch_failures || launch_stacks || (launch_pairs && !driver) || t->data.outer.sp || captures_any())
		return false;
	if (!row->grid && !row->handle)
		return false;
	key = (struct launch_key){
		.func = cuda_arg(&t->call, row->handle ?: row->func), .program = t->program,
		.pid = t->pid, .kind = launch_kind_of(row),
	};
	key.generation = generation_of(key.program, key.func)->n;
	key.device = launch_device(t, row);
	if (launch_streams)
		key.stream = stream_in(&t->call, id);
	c = quick_count(&key);
	if (!c || c->oversized || (row->grid && !shape_stays(&t->call, row, driver, c)))
		return false;
	slot_add(slot_is_own(), &c->launches, 1);
	c->time = bpf_jiffies64();
	return true;
}

/* Remembers a call whose return is probed; NULL if there is no room. */
static __always_inline struct launch_frame *push(struct thread *t, __u32 id)
{
	__u64 at;

	frames_drop_dead(&t->data.frames, t->call.sp);
	at = frames_push(&t->data.frames, t->call.sp);
	if (at >= FRAMES) {
		lose(LOST_RETURN);
		return NULL;
	}
	t->data.of_frame[at].id = id;
	return &t->data.of_frame[at];
}

COLD_IN_USER bool enter_name(struct thread *t, const struct cuda_args *row, __u32 id)
{
	__u32 pid = thread_pid();
	__u64 program;
	struct name_call c;
	struct launch_frame *p;

	if (!row->out && row->name) {
		program = program_of(t, pid);
		if (program)
			name_registered(&t->call, row, pid, program, t->data.registered++);
		return false;
	}
	if (!name_enter(&t->call, row, &c))
		return false;
	p = push(t, id);
	if (p)
		p->name = c;
	return p;
}

/* A call that is no launch, in a stream that captures or by a thread that does.  Sets what is known at its entry. */
static __always_inline bool is_captured(struct thread *t, const struct cuda_args *row, __u64 id, struct captured *c)
{
	__u32 class = cuda_classes[id];
	struct bytes b = {};
	__u64 begun = t->data.capture;

	*c = (struct captured){ .pid = thread_pid() };
	c->program = program_of(t, c->pid);
	if (!c->program)
		return false;
	if (row->stream || STREAM_CLASSES & 1u << class)
		c->capture = capture_of(c->program, class == CUDA_GRAPH ? capture_argument(&t->call, row) : stream_in(&t->call, id));
	c->kind = node_of_class(class);
	if (!c->capture && class == CUDA_ALLOC && row->memory != CUDA_HOST) {
		c->capture = begun && bpf_map_lookup_elem(&captures, &begun) ? begun : 0;	/* another thread may have ended it */
		c->kind = NODE_TAKEN;
	}
	if (!c->capture)
		return false;
	if (class == CUDA_COPY || class == CUDA_SET)
		bytes_enter_copy(&t->call, id, &b);
	else if (class == CUDA_ALLOC && row->size && row->shape == CUDA_BYTES)
		b.n = cuda_arg(&t->call, row->size);
	c->bytes = b.n;
	c->direction = b.direction;
	c->at = cuda_arg(&t->call, row->ptr);
	return true;
}

/* Not inlined: twice, it takes clang 22 more than BPF's 512 bytes of stack. */
static __noinline bool enter_captured(struct thread *t, const struct cuda_args *row, __u64 id)
{
	struct launch_frame *p;

	if (!captures_any() || !task_wanted())
		return false;
	frames_drop_dead(&t->data.frames, t->call.sp);
	if (t->data.frames.used)	/* the driver's function inside */
		return false;
	p = push(t, id);
	if (!p || is_captured(t, row, id, &p->captured))
		return p;
	t->data.frames.used = 0;
	return false;
}

COLD_IN_USER bool enter_graph(struct pt_regs *ctx, struct thread *t, const struct cuda_args *row, __u64 id)
{
	struct launch_frame *p;
	__u64 program;

	if (cuda_classes[id] == CUDA_EVENT) {
		program = captures_any() ? program_of(t, thread_pid()) : 0;
		if (program)
			capture_event_enter(&t->call, row, program);
		return false;
	}
	if (row->op == CUDA_HOST_CALL)
		return launch_graphs && enter_captured(t, row, id);
	p = push(t, id);
	if (!p)
		return false;
	graph_enter(&p->graph, &t->call, id);
	/* of the runtime's call, not of the driver's inside it */
	if (launch_graphs && t->data.frames.used == 1 && graph_is_made(id))
		t->data.first.event.head.frames = stack_take(ctx, t->data.first.stack, t->call.sp);
	return true;
}

/* Remembers a runtime launch, also one that cannot be counted: the driver's launch inside is a part of
 * it. */
static __always_inline void remember(struct pt_regs *ctx, struct thread *t, const struct launch_key *key,
				     const struct shape *s, bool paired)
{
	if (t->data.outer.sp)
		__sync_fetch_and_add(&launches_refused, 1);
	t->data.outer.sp = t->call.sp;
	t->data.outer.caller = return_stored(ctx, t->call.sp);
	t->data.outer.key = *key;
	t->data.outer.paired = paired;
	__builtin_memcpy(t->data.outer.grid, s->grid, sizeof(s->grid));
	__builtin_memcpy(t->data.outer.block, s->block, sizeof(s->block));
}

/* For GPU time by call site. */
static __always_inline void send_each(const struct launch_key *key)
{
	struct launch_made e = {
		.head = { .pid = key->pid, .kind = LAUNCH_MADE }, .time = bpf_ktime_get_ns(), .key = *key,
		.tid = bpf_get_current_pid_tgid(), .own_tid = thread_own_id(),
	};

	records_send(&e, sizeof(e), false);
}

/* Reads the call stack at the entry of a launch; returns its size in bytes and sets *hash. */
static __always_inline long take_stack(struct pt_regs *ctx, struct launch_first *first, __u64 sp,
				       __u64 *hash)
{
	__u32 n = stack_take(ctx, first->stack, sp);

	*hash = stack_hash((void *)first->stack, n);
	return n * 8;
}

COLD_IN_USER bool launch_enter(struct pt_regs *ctx, struct thread *t, const struct cuda_args *row, __u64 id,
			 bool driver)
{
	struct launch_key *key = &t->data.key;
	struct shape *s = &t->data.shape;
	struct launch_count *c;
	struct launch_frame *p;
	__u64 n, capture = 0;
	long stack = 0;

	__builtin_memset(key, 0, sizeof(*key));
	__builtin_memset(s, 0, sizeof(*s));
	key->pid = thread_pid();
	n = launch_arguments(&t->call, row, driver, key, s);
	if (driver && t->data.outer.sp && is_inside(ctx, t, t->call.sp, key, s)) {
		t->data.outer.sp = 0;
		pair(t, key);
		return false;
	}
	key->program = program_of(t, key->pid);
	key->generation = generation_of(key->program, key->func)->n;
	if (captures_any() && key->program)
		capture = capture_of(key->program, stream_in(&t->call, id));
	if (capture) {
		if (launch_pairs && !driver)
			remember(ctx, t, key, s, false);
		graph_captured(key, s, capture);
		return false;
	}
	if (launch_stacks && key->program)
		stack = take_stack(ctx, &t->data.first, t->call.sp, &key->stack);
	key->device = launch_device(t, row);
	if (launch_streams)
		key->stream = stream_in(&t->call, id);
	c = key->program && device_wanted(key->device) ? count_of(&t->data.first, key, driver, stack) : NULL;
	if (launch_pairs && !driver)
		remember(ctx, t, key, s, !c || c->paired);
	if (!c)
		return false;
	if (launch_each)
		send_each(key);
	if (launch_hosts)
		t->data.host.called = bpf_ktime_get_ns();
	__sync_fetch_and_add(&c->launches, n);
	c->oversized = shape_impossible(s);
	if (c->oversized)
		__sync_fetch_and_add(&c->impossible, n);
	c->time = bpf_jiffies64();
	__builtin_memcpy(c->grid, s->grid, sizeof(s->grid));
	__builtin_memcpy(c->block, s->block, sizeof(s->block));
	if (!launch_failures)
		return false;
	p = push(t, id);
	if (p)
		p->key = *key;
	return p;
}

/* Return true if the driver's copy is part of the runtime's: as is_inside(), without its arguments. */
static __always_inline bool is_inside_copy(struct pt_regs *ctx, const struct thread *t)
{
	__u64 outer = t->data.copy_sp;

	return outer > t->call.sp && outer - t->call.sp <= RUNTIME_STACK && t->data.copy_caller &&
	       return_stored(ctx, outer) == t->data.copy_caller;
}

/* A copy or memset, for the gaps that it ends. */
COLD_IN_USER bool enter_copy(struct pt_regs *ctx, struct thread *t, bool driver, __u64 cookie)
{
	__u64 now = bpf_ktime_get_ns();
	bool inside = driver && layers_inside(&t->data.layers, t->call.sp, cookie);

	if (inside || !task_wanted() || !program_of(t, thread_pid()) || (driver && is_inside_copy(ctx, t)))
		return false;
	t->data.copy_sp = driver ? 0 : t->call.sp;
	t->data.copy_caller = driver ? 0 : return_stored(ctx, t->call.sp);
	host_call(ctx, &t->data.host, t->call.sp, now);
	t->data.host.called = now;
	return false;
}

static __always_inline bool enter(struct pt_regs *ctx)
{
	const struct cuda_args *row;
	__u64 cookie = bpf_get_attach_cookie(ctx), id = id_of_cookie(cookie);
	struct thread *t;
	bool driver;

	if (id >= CUDA_ID_MAX)
		return false;
	t = thread_at(ctx);
	if (!t)
		return false;
	t->call.sp = PT_REGS_SP(ctx);
	keep_arguments(&t->call, ctx);
	id = checked(id, CUDA_ID_MAX - 1);
	row = &cuda_rows[id];
	driver = cuda_libs[id] == CUDA_DRV;
	if (cuda_classes[id] == CUDA_NAME)
		return enter_name(t, row, id);
	if (device_alone(id))
		return device_enter(ctx, &t->device, id);
	if (cuda_classes[id] == CUDA_GRAPH || cuda_classes[id] == CUDA_EVENT)
		return enter_graph(ctx, t, row, id);
	if (launch_graphs && cuda_classes[id] != CUDA_LAUNCH)
		return enter_captured(t, row, id);
	if (launch_hosts && (cuda_classes[id] == CUDA_COPY || cuda_classes[id] == CUDA_SET))
		return enter_copy(ctx, t, driver, cookie);
	if (!task_wanted() || (driver && layers_inside(&t->data.layers, t->call.sp, cookie)))
		return false;
	if (launch_again(t, row, id, driver))
		return false;
	return launch_enter(ctx, t, row, id, driver);
}

/* Accounts the thread's host time first: its record precedes the call's. */
static __always_inline bool entered(struct pt_regs *ctx)
{
	struct thread *t = launch_hosts ? thread_known() : NULL;
	bool wanted;

	if (!t)
		return enter(ctx);
	t->data.host.busy = true;
	barrier();
	host_back(&t->data.host, bpf_ktime_get_ns());
	wanted = enter(ctx);
	barrier();
	t->data.host.busy = false;
	return wanted;
}

static __always_inline void leave_name(struct thread *t, const struct name_call *c, __u64 id, int ret)
{
	__u32 pid = thread_pid();
	__u64 program = program_of(t, pid);

	if (program)
		name_leave(c, id, ret, pid, program);
}

static __always_inline void leave_graph(struct thread *t, const struct graph_call *c, int ret)
{
	__u32 pid = thread_pid();
	__u64 program = program_of(t, pid);

	if (program)
		graph_leave(c, pid, program, ret, launch_graphs ? &t->data.first : NULL, &t->data.capture);
}

static __always_inline void leave_captured(struct captured *c, __u64 id, int ret)
{
	if (ret)
		return;
	if (c->kind == NODE_ALLOC)
		c->at = read_u64(c->at);
	graph_captured_call(c);
}

COLD_IN_USER void leave(struct pt_regs *ctx)
{
	struct thread *t = thread_known();
	__u64 at = t ? frames_pop(&t->data.frames, ctx) : FRAMES;
	int ret = PT_REGS_RC(ctx);
	struct launch_count *c;
	struct launch_frame *p;
	__u64 id;

	if (t && device_ends(ctx, &t->device))
		device_leave(ctx, &t->device, 0);
	if (!t || at >= FRAMES)
		return;
	p = &t->data.of_frame[at];
	id = p->id;
	if (id >= CUDA_ID_MAX)
		return;
	id = bounded(id, CUDA_ID_MAX - 1);
	if (cuda_classes[id] == CUDA_NAME) {
		leave_name(t, &p->name, id, ret);
		return;
	}
	if (cuda_classes[id] == CUDA_GRAPH && cuda_rows[id].op != CUDA_HOST_CALL) {
		leave_graph(t, &p->graph, ret);
		return;
	}
	if (cuda_classes[id] != CUDA_LAUNCH) {
		leave_captured(&p->captured, id, ret);
		return;
	}
	c = ret ? bpf_map_lookup_elem(&counts, &p->key) : NULL;
	if (c)
		__sync_fetch_and_add(&c->failed, 1);
}

SEC("uprobe") int cuda_enter(struct pt_regs *ctx)
{
	entered(ctx);
	return 0;
}

SEC("uprobe") int cuda_return(struct pt_regs *ctx)
{
	leave(ctx);
	return 0;
}

/* 1 at an entry: does not arm the return */
SEC("uprobe") int cuda_session(struct pt_regs *ctx)
{
	if (!session_returns(ctx))
		return !entered(ctx);
	leave(ctx);
	return 0;
}

static __always_inline void launch_dropped(struct thread *t)
{
	t->data.outer.sp = 0;
	t->data.copy_sp = 0;
	t->data.host.called = t->data.host.record.from = 0;
	t->data.frames.used = 0;
	t->data.registered = 0;
	t->data.capture = 0;
	device_dropped(&t->device);
}

PROCESS_PROGRAMS(launch_dropped)

/* A child has the same kernels at the same addresses. */
SEC("raw_tp/sched_process_fork") int process_fork(struct bpf_raw_tracepoint_args *ctx)
{
	process_forked(ctx);
	return 0;
}

/* Loaded only on request: it runs at every switch of every CPU … */
SEC("tp_btf/sched_switch") int host_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	__u64 now = bpf_ktime_get_ns();
	struct thread *t;

	t = bpf_task_storage_get(&threads, prev, NULL, 0);
	if (t)
		host_leaves(ctx, &t->data.host, prev, now);
	t = bpf_task_storage_get(&threads, next, NULL, 0);
	if (t)
		host_returns(&t->data.host, now);
	return 0;
}

/* … and this one on each CPU every HOST_SAMPLE_NS. */
SEC("perf_event") int host_sample(void *ctx)
{
	struct thread *t = thread_known();

	if (t)
		host_sampled(ctx, &t->data.host, bpf_ktime_get_ns());
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
