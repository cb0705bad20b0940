/* SPDX-License-Identifier: GPL-2.0 */
/* Launches by kernel, with --kernels alone. */
#ifndef EXPORT_KERNELS_BPF_H
#define EXPORT_KERNELS_BPF_H
#ifndef THREAD_DATA
#error "define THREAD_DATA before this"
#endif
#include "lib/export_counts.bpf.h"
#include "lib/kernel_calls.bpf.h"
#include "lib/launch_counts.bpf.h"

/* Set by the tool. */
const volatile bool export_kernels;

static __always_inline bool export_names_kernel(struct pt_regs *ctx)
{
	__u64 id = cuda_id(ctx);

	return id < CUDA_ID_MAX && cuda_classes[bounded(id, CUDA_ID_MAX - 1)] == CUDA_NAME;
}

/* A call that names kernels; returns true if its return is wanted. */
static __always_inline bool export_name_enter(struct pt_regs *ctx, struct thread *t)
{
	__u32 pid = thread_pid();
	bool first;

	return task_wanted() && process_known(t, pid, &first) &&
	       kernel_call_enter(ctx, &t->data.kernels, bounded(cuda_id(ctx), CUDA_ID_MAX - 1), pid, t->program);
}

static __always_inline void export_name_leave(struct pt_regs *ctx, struct thread *t)
{
	__u32 pid = thread_pid();
	bool first;

	if (process_known(t, pid, &first))
		kernel_call_leave(ctx, &t->data.kernels, pid, t->program);
}

/* The driver's launch inside the runtime's that is in flight: which function it launches. */
static __always_inline void export_launch_inside(struct pt_regs *ctx, struct thread *t, __u64 id)
{
	const struct cuda_args *row = &cuda_rows[id];
	__u64 first = PT_REGS_PARM1(ctx), second = PT_REGS_PARM2(ctx);

	/* both are read: the verifier takes no choice of where to read */
	barrier_var(first);
	barrier_var(second);
	if (!row->handle && !row->count)
		t->data.inside = row->func == 1 ? first : second;
}

/* A launch of a kernel has succeeded: t->call is it, and key that of its count. */
static __always_inline void export_kernel(struct thread *t, const struct export_key *key, __u64 id)
{
	const struct cuda_args *row = &cuda_rows[id];
	struct launch_key k = { .program = key->program, .pid = key->pid, .kind = key->detail };
	struct launch_count *c;

	k.func = row->count ? read_u64(cuda_arg(&t->call, row->params)) : cuda_arg(&t->call, row->func);
	k.generation = generation_of(k.program, k.func)->n;
	c = count_of(&t->data.first, &k, cuda_libs[id] == CUDA_DRV, 0);
	if (!c)
		return;
	__sync_fetch_and_add(&c->launches, t->call.data.ptr);
	if (c->paired || !t->data.inside)
		return;
	c->paired = 1;
	send_pair(k.pid, k.program, k.func, t->data.inside);
}

#endif
