/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel knows of the calling thread. */
#ifndef TASK_BPF_H
#define TASK_BPF_H
#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "lib/bounds.bpf.h"

/* The fields of kernel structs that the tools read; CO-RE relocates them. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
typedef struct { int counter; } atomic_t;
struct signal_struct { atomic_t live; unsigned int flags; };
struct mm_struct { unsigned long start_stack; };
struct task_struct {
	int pid, tgid;
	char comm[16];
	struct signal_struct *signal;
	struct mm_struct *mm;
	struct task_struct *group_leader;
	__u64 start_time;	/* CLOCK_MONOTONIC, ns */
};
#pragma clang attribute pop

/* Return true if this is the last thread of its process to end. */
static __always_inline bool process_ends(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, signal, live.counter) == 0;
}

/* The thread's comm; bpf_get_current_comm() costs three times as much. */
static __always_inline void thread_comm(char comm[16])
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();

	for (int i = 0; i < 16; i++)
		comm[i] = task->comm[i];
}

static __always_inline __u32 thread_pid(void)
{
	return ((const struct task_struct *)bpf_get_current_task_btf())->tgid;
}

#endif
