/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel knows of another thread than the one that reads it: of lib/inflight.bpf.h's program. */
#ifndef INFLIGHT_TASK_BPF_H
#define INFLIGHT_TASK_BPF_H
#include "lib/returns.bpf.h"
#include "lib/task.bpf.h"
#include "abi/stack_unwind.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct seq_file;
struct bpf_iter_meta { struct seq_file *seq; };
struct bpf_iter__task { struct bpf_iter_meta *meta; struct task_struct *task; };
struct task_struct___switches { unsigned long nvcsw, nivcsw; };
#pragma clang attribute pop

enum { KERNEL_THREAD = 0x200000 };	/* PF_KTHREAD, include/linux/sched.h */

static __always_inline bool task_is_kernel(const struct task_struct *task)
{
	return task->flags & KERNEL_THREAD;
}

/* How often it has left a CPU. */
static __always_inline __u64 task_switches(const struct task_struct *task)
{
	const struct task_struct___switches *switched = (void *)task;

	return switched->nvcsw + switched->nivcsw;
}

/* Of a thread that runs in user mode: as it last entered the kernel. */
static __always_inline void inflight_registers(struct task_struct *task, struct stack_copy *c)
{
	struct pt_regs regs = {};

	bpf_probe_read_kernel(&regs, sizeof(regs), (void *)bpf_task_pt_regs(task));
	c->regs[UNWIND_RBX] = regs.rbx;
	c->regs[UNWIND_RBP] = regs.rbp;
	c->regs[UNWIND_RSP] = regs.rsp;
	c->regs[UNWIND_R12] = regs.r12;
	c->regs[UNWIND_R12 + 1] = regs.r13;
	c->regs[UNWIND_R12 + 2] = regs.r14;
	c->regs[UNWIND_R12 + 3] = regs.r15;
	c->regs[UNWIND_RIP] = regs.rip;
	returns_list(c, returns_of(task));
}

#endif
