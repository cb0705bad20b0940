/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel knows of the calling thread, and of others.  This header, and lib/bounds, lib/returns,
 * lib/inflight_task and lib/unwind_pages, have all that only a BPF program can do: bpf/userspace has others in their
 * place. */
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
typedef struct { unsigned int val; } kuid_t;
struct user_namespace { struct user_namespace *parent; int level; kuid_t owner; };
struct cred { kuid_t uid; struct user_namespace *user_ns; };
struct signal_struct { atomic_t live; unsigned int flags; };
struct mm_struct { unsigned long start_stack; };
struct thread_struct { unsigned long fsbase; };
struct sched_entity { __u64 sum_exec_runtime; };
struct task_struct {
	int pid, tgid;
	char comm[16];
	unsigned int flags;
	struct signal_struct *signal;
	struct mm_struct *mm;
	struct cred *cred;
	struct thread_struct thread;
	struct sched_entity se;
	struct task_struct *group_leader, *real_parent;
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

/* pthread_self() */
static __always_inline __u64 thread_self(void)
{
	return BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), thread.fsbase);
}

enum { SIGNAL_GROUP_EXIT = 4 };	/* include/linux/sched/signal.h */

/* Return true if the task's whole process ends, by exit() or a signal. */
static __always_inline bool process_exits(struct task_struct *task)
{
	return BPF_CORE_READ(task, signal, flags) & SIGNAL_GROUP_EXIT;
}

/* Return true if this is the comm of the process's first thread, up to its end or n bytes. */
static __always_inline bool process_comm_is(const volatile char *comm, const int n)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	const struct task_struct *leader = task->group_leader;

	for (int i = 0; i < n; i++) {
		if (leader->comm[i] != comm[i])
			return false;
		if (!comm[i])
			break;
	}
	return true;
}

static __always_inline bool process_is_in_cgroup(__u32 level, __u64 cgroup)
{
	return bpf_get_current_ancestor_cgroup_id(level) == cgroup;
}

enum { FORKED_NO_EXEC = 0x40 };	/* PF_FORKNOEXEC in include/linux/sched.h */

/* The process of which this one is a copy; 0 if it has run another program since. */
static __always_inline __u32 process_copied(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, group_leader, flags) & FORKED_NO_EXEC ? BPF_CORE_READ(task, real_parent, tgid) : 0;
}

/* The user to charge for what the calling thread does.  Inside a user namespace it is the one who
 * created the outermost, as the root of one can have many others (proc_user() is the same). */
static __always_inline __u32 share_user(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct cred *cred = BPF_CORE_READ(task, cred);
	struct user_namespace *ns = BPF_CORE_READ(cred, user_ns);
	int level = BPF_CORE_READ(ns, level);

	if (!level)
		return BPF_CORE_READ(cred, uid.val);
	for (int i = 0; i < 32 && level > 1; i++, level--)
		ns = BPF_CORE_READ(ns, parent);
	return BPF_CORE_READ(ns, owner.val);
}

/* How long the task has run, in ns: up to the last tick, or its last switch. */
static __always_inline __u64 task_ran(struct task_struct *task)
{
	return BPF_CORE_READ(task, se.sum_exec_runtime);
}

/* A program at tp_btf/sched_switch sees the switches of CPUs: so task_ran() is needed there alone. */
enum { TASK_SWITCHES = 1 };

/* What the process runs of Python is in a map. */
struct python_process;
enum { PROCESS_PYTHON = 0 };

static __always_inline const struct python_process *process_python(void)
{
	return NULL;
}

/* One link may be in all processes: see lib/watched.bpf.h. */
enum { LINKS_SHARED = 1 };

#endif
