/* SPDX-License-Identifier: GPL-2.0 */
/* The calls that name kernels or make graphs, which a thread makes beside the call that it is in, or inside of it. */
#ifndef LIB_KERNEL_CALLS_BPF_H
#define LIB_KERNEL_CALLS_BPF_H
#include "lib/frames.bpf.h"
#include "lib/graph.bpf.h"
#include "lib/launch_names.bpf.h"

/* A tool that follows further calls beside it defines these first. */
#ifndef CUDA_BESIDE_ENDS
#define CUDA_BESIDE_ENDS(ctx, t) kernel_call_ends(ctx, &(t)->data.kernels)
#define CUDA_BESIDE_LEAVE(ctx, t) beside_leave(ctx, t)
#endif

/* Kept of a thread. */
struct kernel_calls {
	struct frames frames;
	struct {
		union {
			struct name_call name;
			struct graph_call graph;
		};
		__u64 id;
	} of[FRAMES];
	struct call call;	/* that is entered */
	__u32 registered;	/* kernels, by the program */
};

/* At the entry of a call of class name, graph or event; returns true if its return is wanted. */
static __always_inline bool kernel_call_enter(struct pt_regs *ctx, struct kernel_calls *k, __u64 id, __u32 pid,
					      __u64 program)
{
	const struct cuda_args *row = &cuda_rows[id];
	bool graph = cuda_classes[id] == CUDA_GRAPH;
	struct name_call name;
	__u64 at;

	k->call.sp = PT_REGS_SP(ctx);
	keep_arguments(&k->call, ctx);
	if (cuda_classes[id] == CUDA_EVENT) {
		capture_event_enter(&k->call, row, program);
		return false;
	}
	if (row->op == CUDA_HOST_CALL)
		return false;
	if (!graph && !row->out && row->name) {
		name_registered(&k->call, row, pid, program, k->registered++);
		return false;
	}
	if (!graph && !name_enter(&k->call, row, &name))
		return false;
	frames_drop_dead(&k->frames, k->call.sp);
	at = frames_push(&k->frames, k->call.sp);
	if (at >= FRAMES) {
		lose(LOST_RETURN);
		return false;
	}
	if (graph)
		graph_enter(&k->of[at].graph, &k->call, id);
	else
		k->of[at].name = name;
	k->of[at].id = id;
	return true;
}

/* Return true at the return of such a call. */
static __always_inline bool kernel_call_ends(struct pt_regs *ctx, const struct kernel_calls *k)
{
	return frames_end(ctx, &k->frames);
}

/* first: has the stack where a graph is made, or is NULL: see graph_leave(). */
static __always_inline void kernel_call_leave(struct pt_regs *ctx, struct kernel_calls *k, __u32 pid,
					      __u64 program, struct launch_first *first)
{
	__u64 at = frames_pop(&k->frames, ctx), id;

	if (at >= FRAMES)
		return;
	id = bounded(k->of[at].id, CUDA_ID_MAX - 1);
	if (cuda_classes[id] == CUDA_GRAPH)
		graph_leave(&k->of[at].graph, pid, program, PT_REGS_RC(ctx), first, NULL);
	else
		name_leave(&k->of[at].name, id, PT_REGS_RC(ctx), pid, program);
}

/* Call where the thread's program is replaced. */
static __always_inline void kernel_calls_dropped(struct kernel_calls *k)
{
	k->frames.used = 0;
	k->registered = 0;
}

#endif
