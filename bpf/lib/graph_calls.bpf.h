/* SPDX-License-Identifier: GPL-2.0 */
/* For tools that follow the thread's call in flight (lib/cuda.bpf.h): the calls beside it that make graphs, what is captured,
 * and launches of graphs.  Their struct thread_data has struct kernel_calls kernels. */
#ifndef LIB_GRAPH_CALLS_BPF_H
#define LIB_GRAPH_CALLS_BPF_H
#ifndef THREAD_DATA
#error "define THREAD_DATA before this"
#endif
#include "lib/kernel_calls.bpf.h"
#include "lib/processes.bpf.h"

/* A tool may define it to take the call stacks where graphs are made, into struct launch_first first of its struct
 * thread_data. */
#ifdef GRAPH_STACKS
#define GRAPH_FIRST(t) (GRAPH_STACKS ? &(t)->data.first : NULL)
#else
#define GRAPH_FIRST(t) NULL
#endif

static __always_inline bool is_beside(struct pt_regs *ctx)
{
	const __u32 beside = 1u << CUDA_NAME | CUDA_GRAPH_CLASSES;
	__u64 id = cuda_id(ctx);

	return id < CUDA_ID_MAX && beside & 1u << cuda_classes[bounded(id, CUDA_ID_MAX - 1)];
}

/* For a call that names kernels, or that graphs are followed by.  Returns true if its return must be traced. */
static __always_inline bool beside_enter(struct pt_regs *ctx, struct thread *t)
{
	__u32 pid = thread_pid();
	bool first;

	if (cuda_classes[bounded(cuda_id(ctx), CUDA_ID_MAX - 1)] == CUDA_EVENT && !captures_any())
		return false;
	if (!task_wanted() || !process_known(t, pid, &first) ||
	    !kernel_call_enter(ctx, &t->data.kernels, bounded(cuda_id(ctx), CUDA_ID_MAX - 1), pid, t->program))
		return false;
#ifdef GRAPH_STACKS
	/* of the runtime's call, not of the driver's inside it */
	if (GRAPH_STACKS && t->data.kernels.frames.used == 1 && graph_is_made(bounded(cuda_id(ctx), CUDA_ID_MAX - 1)))
		t->data.first.event.head.frames = stack_take(ctx, t->data.first.stack, PT_REGS_SP(ctx));
#endif
	return true;
}

static __always_inline void beside_leave(struct pt_regs *ctx, struct thread *t)
{
	__u32 pid = thread_pid();
	bool first;

	if (process_known(t, pid, &first))
		kernel_call_leave(ctx, &t->data.kernels, pid, t->program, GRAPH_FIRST(t));
}

/* Call where the thread's program is replaced. */
static __always_inline void calls_dropped(struct thread *t)
{
	call_dropped(t);
	kernel_calls_dropped(&t->data.kernels);
}

COLD_IN_USER __u64 capture_find(struct thread *t, __u64 id)
{
	bool first;

	return process_known(t, thread_pid(), &first) ? capture_of(t->program, stream_in(&t->call, id)) : 0;
}

/* Returns the capture that the call which is entered is part of; 0: none. */
static __always_inline __u64 capture_now(struct thread *t, __u64 id)
{
	return captures_any() ? capture_find(t, id) : 0;
}

#ifdef LIB_NCCL_CALLS_BPF_H
/* At the entry of a call of NCCL, n of the thread's data.  Returns true if the return must be traced. */
static __always_inline bool nccl_enter(struct pt_regs *ctx, struct thread *t, struct nccl_call *n, __u64 id)
{
	bool first;

	if (!task_wanted() || !nccl_call_enter(ctx, n, id))
		return false;
	n->capture = 0;
	if (captures_any() && process_known(t, thread_pid(), &first))
		n->capture = capture_of(t->program, stream_in(&n->call, id));
	return true;
}
#endif

/* Call when t->call, a launch of a graph, has succeeded: completes a key whose device is set.  Returns false if it is captured
 * itself, or of no program. */
static __always_inline bool graph_launched(struct thread *t, struct launch_key *key, __u64 capture)
{
	__u64 id = bounded(t->call.id, CUDA_ID_MAX - 1);
	struct shape none = {};
	bool first;

	key->pid = thread_pid();
	if (!process_known(t, key->pid, &first))
		return false;
	key->program = t->program;
	key->kind = LAUNCH_GRAPH;
	key->func = cuda_arg(&t->call, cuda_rows[id].handle);
	key->generation = generation_of(key->program, key->func)->n;
	if (capture)
		graph_captured(key, &none, capture);
	return !capture;
}

#endif
