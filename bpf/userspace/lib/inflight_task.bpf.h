/* SPDX-License-Identifier: GPL-2.0 */
/* As bpf/lib/inflight_task.bpf.h, for a thread whose element is in memory that is shared: its registers are not known. */
#ifndef INFLIGHT_TASK_BPF_H
#define INFLIGHT_TASK_BPF_H
#include "lib/returns.bpf.h"
#include "lib/task.bpf.h"
#include "abi/stack_unwind.h"

struct bpf_iter_meta { struct inject_each_call *seq; };
struct bpf_iter__task { struct bpf_iter_meta *meta; struct task_struct *task; };

static __always_inline long bpf_seq_write(struct inject_each_call *each, const void *data, __u32 size)
{
	if (size > each->size - each->used)
		return -7;	/* E2BIG */
	inject_copy(each->at + each->used, data, size);
	each->used += size;
	return 0;
}

static __always_inline bool task_is_kernel(const struct task_struct *task)
{
	(void)task;
	return false;
}

static __always_inline __u64 task_switches(const struct task_struct *task)
{
	(void)task;
	return 0;
}

static __always_inline void inflight_registers(struct task_struct *task, struct stack_copy *c)
{
	(void)task;
	(void)c;
}

#endif
