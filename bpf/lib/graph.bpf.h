/* SPDX-License-Identifier: GPL-2.0 */
/* CUDA graphs: which streams capture, and records of how graphs are made.  What is called on a stream that captures is
 * recorded in a graph and does not run.  A stream captures from cudaStreamBeginCapture() on; others join when they wait for
 * an event that was recorded in a stream that captures; all leave where the first one's cudaStreamEndCapture() returns (CUDA
 * Programming Guide, "Creating a Graph Using Stream Capture").
 *
 * A runtime function and the driver's function in it are both seen, and change nothing twice: a stream that captures does not
 * begin to, a node that is known is not added. */
#ifndef LIB_GRAPH_BPF_H
#define LIB_GRAPH_BPF_H
#include "lib/bytes.bpf.h"
#include "lib/device.bpf.h"
#include "lib/launch.bpf.h"
#include "lib/launch_names.bpf.h"
#include "lib/shares.bpf.h"
#include "abi/launch.h"

enum { CAPTURES = 4096, CAPTURE_STREAMS = 8192, CAPTURE_EVENTS = 16384 };

/* Captures that go on, by id; the streams that take part; the events that were recorded in them. */
BPF_HASH(captures, __u64, struct capture, CAPTURES)
BPF_HASH(capture_streams, struct capture_stream, struct capture_member, CAPTURE_STREAMS)
BPF_HASH(capture_events, struct capture_event, struct capture_member, CAPTURE_EVENTS)

/* User space gives back what it deletes. */
struct capture_shares capture_shares SEC(".data.capture_shares");

/* Almost always false: a launch outside of captures pays for no more than this. */
static __always_inline bool captures_any(void)
{
	return *(volatile __u64 *)&capture_shares.captures.used;
}

static __always_inline struct capture_stream capture_stream(__u64 program, __u64 stream)
{
	return (struct capture_stream){
		.program = program, .stream = stream,
		.thread = stream == STREAM_PER_THREAD ? (__u32)bpf_get_current_pid_tgid() : 0,
	};
}

/* Returns the capture that a stream takes part in; 0: none. */
GLOBAL_SUBPROG __u64 capture_of(__u64 program, __u64 stream)
{
	struct capture_stream key = capture_stream(program, stream);
	struct capture_member *m = bpf_map_lookup_elem(&capture_streams, &key);
	__u64 id = m ? m->capture : 0;
	__u32 share = m ? m->share : 0;

	if (!m || bpf_map_lookup_elem(&captures, &id))
		return id;
	if (!bpf_map_delete_elem(&capture_streams, &key))	/* that one has ended */
		share_give_back(&capture_shares.streams, share);
	return 0;
}

/* The stream that a function of class graph or event is about. */
static __always_inline __u64 capture_argument(const struct call *call, const struct cuda_args *row)
{
	return cuda_arg(call, row->stream) ?: row->per_thread ? STREAM_PER_THREAD : STREAM_LEGACY;
}

static __always_inline void capture_join(__u64 program, __u64 stream, __u64 id)
{
	struct capture_stream key = capture_stream(program, stream);
	struct capture_member m = { .capture = id };

	if (!share_add(&capture_streams, &key, &m, &m.share, &capture_shares.streams, CAPTURE_STREAMS))
		lose(LOST_GROUP);
}

/* Where a stream has begun to capture.  Returns the id; 0 if it did before. */
GLOBAL_SUBPROG __u64 capture_began(__u32 pid, __u64 program, __u64 stream, __u64 graph)
{
	struct capture c = { .program = program, .stream = stream, .graph = graph };
	struct launch_event e = {};
	__u64 id = bpf_ktime_get_ns();

	if (capture_of(program, stream))
		return 0;
	if (!share_add(&captures, &id, &c, &c.share, &capture_shares.captures, CAPTURES)) {
		lose(LOST_GROUP);
		return 0;
	}
	capture_join(program, stream, id);
	e.subject = id;
	send_event(&e, pid, program, LAUNCH_CAPTURE_BEGAN, false);
	return id;
}

/* An event is recorded in a stream that captures, or in another one. */
GLOBAL_SUBPROG int capture_recorded(__u64 program, __u64 stream, __u64 event)
{
	struct capture_event key = { .program = program, .event = event };
	struct capture_member m = { .capture = capture_of(program, stream) };
	struct capture_member *was = bpf_map_lookup_elem(&capture_events, &key);
	__u32 share;

	if (was && m.capture) {
		was->capture = m.capture;
	} else if (was) {
		share = was->share;
		if (!bpf_map_delete_elem(&capture_events, &key))
			share_give_back(&capture_shares.events, share);
	} else if (m.capture &&
		   !share_add(&capture_events, &key, &m, &m.share, &capture_shares.events, CAPTURE_EVENTS)) {
		lose(LOST_GROUP);
	}
	return 0;
}

/* A stream waits for an event. */
GLOBAL_SUBPROG int capture_waited(__u64 program, __u64 stream, __u64 event)
{
	struct capture_event key = { .program = program, .event = event };
	struct capture_member *m = bpf_map_lookup_elem(&capture_events, &key);
	__u64 id = m ? m->capture : 0;

	if (id && bpf_map_lookup_elem(&captures, &id) && !capture_of(program, stream))
		capture_join(program, stream, id);
	return 0;
}

/* At the entry of a call of class event, whose return does not matter.  Flag 1: a node of its own records the event or waits
 * for it, and no stream joins (cudaEventRecordExternal, cudaEventWaitExternal). */
static __always_inline void capture_event_enter(const struct call *call, const struct cuda_args *row, __u64 program)
{
	__u64 stream = capture_argument(call, row);

	if (cuda_arg(call, row->flags) & 1)
		return;
	if (row->op == CUDA_RECORD)
		capture_recorded(program, stream, cuda_arg(call, row->event));
	else
		capture_waited(program, stream, cuda_arg(call, row->event));
}

/* Sends a record with the stack that was taken where the call began, if there is one. */
static __always_inline void send_made(struct launch_event *e, struct launch_first *first, __u32 pid, __u64 program, __u32 what)
{
	__u32 frames = first ? first->event.head.frames : 0;

	if (!frames || frames > STACK_FRAMES) {
		send_event(e, pid, program, what, true);
		return;
	}
	first->event = *e;
	first->event.head.pid = first->event.key.pid = pid;
	first->event.head.kind = what;
	first->event.head.frames = frames;
	first->event.key.program = program;
	thread_comm(first->event.comm);
	records_send(first, sizeof(*e) + 8 * (__u64)bounded(frames, STACK_FRAMES), true);
}

/* Where a stream was to end its capture: it has, in a graph or, if the capture had failed, in none (0).  A stream that has
 * joined cannot end it. */
GLOBAL_SUBPROG int capture_ended(__u32 pid, __u64 program, __u64 stream, __u64 graph, struct launch_first *first)
{
	__u64 id = capture_of(program, stream);
	struct capture *c = bpf_map_lookup_elem(&captures, &id);
	struct launch_event e = { .subject = id, .object = graph };
	__u32 share;

	if (!id || !c || c->stream != stream)
		return 0;
	share = c->share;
	e.owner = c->graph;
	if (!bpf_map_delete_elem(&captures, &id))
		share_give_back(&capture_shares.captures, share);
	capture_of(program, stream);	/* drops the stream's entry */
	send_made(&e, first, pid, program, LAUNCH_CAPTURE_ENDED);
	return 0;
}

static __always_inline struct launch_node *node_reserve(void)
{
	struct launch_node *n = records_refused(sizeof(*n)) ? NULL : bpf_ringbuf_reserve(&events, sizeof(*n), 0);

	if (n)
		__builtin_memset(n, 0, sizeof(*n));
	else
		lose(LOST_RECORD);
	return n;
}

static __always_inline void node_submit(struct launch_node *n, __u32 what)
{
	n->event.head.kind = what;
	n->event.time = bpf_ktime_get_ns();
	bpf_get_current_comm(n->event.comm, sizeof(n->event.comm));
	bpf_ringbuf_submit(n, records_wakeup(sizeof(*n), true));
}

/* A launch on a stream that captures; key is what it would count as. */
GLOBAL_SUBPROG int graph_captured(const struct launch_key *key, const struct shape *shape, __u64 capture)
{
	struct launch_node *n;

	if (!key || !shape)
		return 0;
	n = node_reserve();
	if (!n)
		return 0;
	n->event.head.pid = key->pid;
	n->event.key = *key;
	n->event.subject = capture;
	__builtin_memcpy(n->grid, shape->grid, sizeof(n->grid));
	__builtin_memcpy(n->block, shape->block, sizeof(n->block));
	node_submit(n, LAUNCH_CAPTURED);
	return 0;
}

/* The node of a captured call that is no launch. */
static __always_inline __u32 node_of_class(__u32 class)
{
	switch (class) {
	case CUDA_COPY:
		return NODE_COPY;
	case CUDA_SET:
		return NODE_SET;
	case CUDA_ALLOC:
		return NODE_ALLOC;
	case CUDA_FREE:
		return NODE_FREE;
	}
	return NODE_HOST;
}

/* Work of a call that is captured, or whose memory a thread takes while it captures. */
struct captured {
	__u64 capture, program;
	__u32 pid, kind;	/* kind: enum node_kind, from NODE_COPY on */
	__u64 at, bytes;	/* at: of memory, its address */
	__u32 direction;
	__u32 device;		/* of memory; 0: not known */
};

GLOBAL_SUBPROG int graph_captured_call(const struct captured *c)
{
	struct launch_node *n;

	if (!c)
		return 0;
	n = node_reserve();
	if (!n)
		return 0;
	n->event.head.pid = n->event.key.pid = c->pid;
	n->event.key.program = c->program;
	n->event.key.kind = c->kind;
	n->event.key.func = c->at;
	n->event.key.device = c->device;
	n->event.subject = c->capture;
	n->bytes = c->bytes;
	n->direction = c->direction;
	node_submit(n, LAUNCH_CAPTURED);
	return 0;
}

/* A call of class graph from its entry to its return. */
struct graph_call {
	__u64 out;		/* where a graph, exec or node is stored */
	__u64 graph, exec, node, stream, child;
	__u64 kernel;
	__u64 time;		/* of its entry */
	struct shape shape;	/* of the kernel */
	__u64 bytes;
	__u32 op, kind, enabled;	/* kind: enum node_kind */
	__u32 direction;
	__u32 device;		/* of what it allocates; 0: not known */
};

/* Of a kernel's node: the function, its grid and block (driver_types.h: cudaKernelNodeParams; cuda.h:
 * CUDA_KERNEL_NODE_PARAMS); the driver's later forms may have a CUkernel instead. */
enum { NODE_SHAPE = 8, NODE_KERN = 56 };

static __always_inline void node_kernel(struct graph_call *c, __u64 params, bool driver)
{
	c->kind = LAUNCH_KERNEL;
	c->kernel = read_u64(params);
	if (!c->kernel && driver)
		c->kernel = read_u64(params + NODE_KERN);
	if (bpf_probe_read_user(&c->shape, sizeof(c->shape), (void *)(params + NODE_SHAPE)))
		lose(LOST_READ);
}

/* Of a copy's node: a cudaMemcpy3DParms or a CUDA_MEMCPY3D.  With an array only the driver's call inside has the bytes. */
static __always_inline void node_copy(struct graph_call *c, __u64 params, bool driver)
{
	const struct cuda_args *row = &cuda_rows[driver ? CUDA_ID_cuGraphAddMemcpyNode : CUDA_ID_cudaGraphAddMemcpyNode];

	c->kind = NODE_COPY;
	c->bytes = has_array(row, params) ? ~0ull : piece(params + row->size_at, false);
	c->direction = direction_of(row, 0, params);
}

/* A cudaMemsetParams or CUDA_MEMSET_NODE_PARAMS. */
static __always_inline void node_set(struct graph_call *c, __u64 params)
{
	struct { __u64 dst, pitch; __u32 value, element; __u64 width, height; } p = {};

	c->kind = NODE_SET;
	if (bpf_probe_read_user(&p, sizeof(p), (void *)params))
		lose(LOST_READ);
	c->bytes = p.element * p.width * p.height;
}

/* A cudaMemAllocNodeParams or CUDA_MEM_ALLOC_NODE_PARAMS: the location, the size, and where the address is stored. */
enum { ALLOC_LOCATION = 8, ALLOC_SIZE = 104, ALLOC_AT = 112 };

static __always_inline void node_alloc(struct graph_call *c, __u64 params)
{
	c->kind = NODE_ALLOC;
	c->device = device_of_location(read_u64(params + ALLOC_LOCATION));
	c->bytes = read_u64(params + ALLOC_SIZE);
	c->kernel = params + ALLOC_AT;
}

/* Of any node: its kind, and what is like the parameters of that kind (cudaGraphNodeParams, CUgraphNodeParams; those of a copy
 * have 16 bytes before them). */
enum {
	NODE_PARAMS = 16, NODE_IS_KERNEL = 0, NODE_IS_COPY = 1, NODE_IS_SET = 2, NODE_IS_HOST = 3, NODE_IS_GRAPH = 4,
	NODE_IS_ALLOC = 10, NODE_IS_FREE = 11, NODE_IS_CONDITIONAL = 13,
};

static __always_inline void node_any(struct graph_call *c, __u64 params, bool driver)
{
	__u32 kind = read_u64(params);

	params += NODE_PARAMS;
	if (kind == NODE_IS_KERNEL) {
		node_kernel(c, params, driver);
	} else if (kind == NODE_IS_COPY) {
		node_copy(c, params + 16, driver);
	} else if (kind == NODE_IS_SET) {
		node_set(c, params);
	} else if (kind == NODE_IS_ALLOC) {
		node_alloc(c, params);
	} else if (kind == NODE_IS_GRAPH || kind == NODE_IS_FREE) {
		c->kind = kind == NODE_IS_GRAPH ? LAUNCH_GRAPH : NODE_FREE;
		c->child = c->kernel = read_u64(params);
	} else {
		c->kind = kind == NODE_IS_HOST ? NODE_HOST : kind == NODE_IS_CONDITIONAL ? NODE_CONDITIONAL : NODE_OTHER;
	}
}

/* Of the functions for one kind of nodes. */
static __always_inline void node_of_kind(struct graph_call *c, const struct call *call, const struct cuda_args *row, bool driver)
{
	__u64 params = cuda_arg(call, row->params);

	switch (row->op) {
	case CUDA_KERNEL_NODE:
		node_kernel(c, params, driver);
		break;
	case CUDA_COPY_NODE:
		if (row->params) {
			node_copy(c, params, driver);
			break;
		}
		c->kind = NODE_COPY;
		c->bytes = cuda_arg(call, row->size);
		c->direction = direction_of_kind(cuda_arg(call, row->kind));
		break;
	case CUDA_SET_NODE:
		node_set(c, params);
		break;
	case CUDA_ALLOC_NODE:
		node_alloc(c, params);
		break;
	case CUDA_FREE_NODE:
		c->kind = NODE_FREE;
		c->kernel = cuda_arg(call, row->ptr);
		break;
	case CUDA_HOST_NODE:
		c->kind = NODE_HOST;
		break;
	case CUDA_OTHER_NODE:
		c->kind = NODE_OTHER;
		break;
	}
}

/* cudaGraphAddNode() has the parameters last: fifth, or sixth in the forms with data of the edges, where a number is
 * fifth. */
static __always_inline __u64 node_parameters(const struct call *call, const struct cuda_args *row)
{
	__u64 fifth = cuda_arg(call, 5);

	return row->params ? cuda_arg(call, row->params) : fifth < 0x10000 ? cuda_arg(call, 6) : fifth;
}

/* At the entry. */
GLOBAL_SUBPROG int graph_enter(struct graph_call *c, const struct call *call, __u64 id)
{
	const struct cuda_args *row;
	bool driver;

	if (!c || !call || id >= CUDA_ID_MAX)
		return 0;
	id = bounded(id, CUDA_ID_MAX - 1);
	row = &cuda_rows[id];
	driver = cuda_libs[id] == CUDA_DRV;
	__builtin_memset(c, 0, sizeof(*c));
	c->op = row->op;
	c->time = bpf_ktime_get_ns();
	c->out = row->out ? cuda_arg(call, 1) : row->op == CUDA_END ? cuda_arg(call, row->graph) : 0;
	c->graph = row->graph > 1 || !row->out ? cuda_arg(call, row->graph) : 0;
	c->exec = row->out ? 0 : cuda_arg(call, row->handle);
	c->node = row->out ? 0 : cuda_arg(call, row->node);
	c->child = cuda_arg(call, row->child);
	c->enabled = cuda_arg(call, row->flags);
	if (row->stream)
		c->stream = capture_argument(call, row);
	c->kind = LAUNCH_GRAPH;
	if (row->op == CUDA_ANY_NODE)
		node_any(c, node_parameters(call, row), driver);
	else
		node_of_kind(c, call, row, driver);
	return 0;
}

/* The functions below are called beside each other, not one from another: each has a record on the stack, of which the verifier
 * adds up those of nested calls. */

GLOBAL_SUBPROG int graph_node(const struct graph_call *c, __u64 node, __u32 pid, __u64 program)
{
	struct launch_node *n;
	__u32 generation;

	if (!c)
		return 0;
	generation = c->exec ? generation_named(program, c->exec, 0) : 0;
	n = node_reserve();
	if (!n)
		return 0;
	n->event.head.pid = pid;
	n->event.key.program = program;
	n->event.key.func = c->kind == LAUNCH_GRAPH ? c->child : c->kind == NODE_ALLOC ? read_u64(c->kernel) : c->kernel;
	n->event.key.pid = pid;
	n->event.key.kind = c->kind;
	n->event.key.device = c->device;
	n->event.key.generation = generation;
	n->event.subject = c->exec ?: c->graph;
	n->event.object = node;
	__builtin_memcpy(n->grid, c->shape.grid, sizeof(n->grid));
	__builtin_memcpy(n->block, c->shape.block, sizeof(n->block));
	n->bytes = c->bytes;
	n->direction = c->direction;
	node_submit(n, LAUNCH_NODE);
	return 0;
}

/* A change of an executable graph begins a new generation of its launches.  out: the graph that was made, or 0. */
GLOBAL_SUBPROG int graph_changed(const struct graph_call *c, __u64 out, __u32 pid, __u64 program, struct launch_first *first)
{
	struct launch_event e = {};
	__u64 exec;
	__u32 what;

	if (!c)
		return 0;
	exec = c->exec;
	e.subject = exec ?: c->graph;
	e.object = c->node;
	e.owner = !!c->enabled;
	e.time = c->op == CUDA_DESTROY ? c->time : bpf_ktime_get_ns();
	what = c->op == CUDA_ENABLE ? LAUNCH_NODE_ENABLED : c->node ? LAUNCH_NODE_GONE : LAUNCH_GRAPH_GONE;
	if (c->op == CUDA_INSTANTIATE) {
		what = LAUNCH_INSTANTIATED;
		exec = e.subject = out ?: c->exec;
		e.object = c->graph;
	} else if (c->op == CUDA_CLONE) {
		what = LAUNCH_CLONED;
		e.subject = out;
		e.object = c->child;
	}
	if (exec)
		e.key.generation = generation_named(program, exec, 0);
	send_made(&e, what == LAUNCH_INSTANTIATED ? first : NULL, pid, program, what);
	return 0;
}

/* Return true if the function ends a capture, or instantiates a graph. */
static __always_inline bool graph_is_made(__u64 id)
{
	__u32 op = cuda_rows[id].op;

	return op == CUDA_END || op == CUDA_INSTANTIATE;
}

/* At the return.  first: has the stack where the call began, as many frames as head.frames says, or is NULL.  capture: the one
 * that the thread has begun, or NULL. */
static __always_inline void graph_leave(const struct graph_call *c, __u32 pid, __u64 program, int failed,
					struct launch_first *first, __u64 *capture)
{
	__u64 out = c->out && !failed ? read_u64(c->out) : 0, begun = capture ? *capture : 0;

	if (c->op == CUDA_END) {
		capture_ended(pid, program, c->stream, out, first);
		begun = 0;
	} else if (failed) {
		;
	} else if (c->op == CUDA_BEGIN || c->op == CUDA_BEGIN_ANEW) {
		begun = capture_began(pid, program, c->stream, c->op == CUDA_BEGIN ? c->graph : 0) ?: begun;
	} else if (c->op >= CUDA_KERNEL_NODE && c->op <= CUDA_OTHER_NODE) {
		graph_node(c, out ?: c->node, pid, program);
	} else {
		graph_changed(c, out, pid, program, first);
	}
	if (capture)
		*capture = begun;
}

#endif
