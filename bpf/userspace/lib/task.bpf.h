/* SPDX-License-Identifier: GPL-2.0 */
/* As bpf/lib/task.bpf.h, from what the program itself, and the tool, say of a thread. */
#ifndef TASK_BPF_H
#define TASK_BPF_H
#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <asm/unistd.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "lib/bounds.bpf.h"

/* The tool itself reports the ends of processes (common/session/inject.c). */
static __always_inline bool process_ends(void)
{
	return false;
}

static __always_inline void thread_comm(char comm[16])
{
	inject_copy(comm, inject_comm(), 16);
}

static __always_inline __u32 thread_pid(void)
{
	return inject_local.task.tgid;
}

/* Thread control blocks begin with their own address (System V ABI for x86-64, 3.4.6: variant II). */
static __always_inline __u64 thread_self(void)
{
	__u64 self;

	__asm__("mov %%fs:0, %0" : "=r"(self));
	return self;
}

/* Called for a thread that ends alone. */
static __always_inline bool process_exits(const struct task_struct *task)
{
	(void)task;
	return false;
}

static __always_inline bool process_comm_is(const volatile char *comm, const int n)
{
	const char *leader = inject_leader_comm();

	for (int i = 0; i < n; i++) {
		if (leader[i] != comm[i])
			return false;
		if (!comm[i])
			break;
	}
	return true;
}

/* The tool looks when a process connects, and lets no other in. */
static __always_inline bool process_is_in_cgroup(__u32 level, __u64 cgroup)
{
	(void)level;
	(void)cgroup;
	return true;
}

static __always_inline __u32 process_copied(void)
{
	return inject_local.task.parent;
}

static __always_inline __u32 share_user(void)
{
	return inject_local.task.uid;
}

/* In the process's own memory: no other process can have it read elsewhere. */
enum { PROCESS_PYTHON = 1 };

static __always_inline const struct python_process *process_python(void)
{
	const struct python_process *p = inject_now.python;

	return p && (__atomic_load_n(&p->runtime, __ATOMIC_ACQUIRE) || p->loss) ? p : NULL;
}

/* Of the calling thread only. */
static __always_inline __u64 task_ran(const struct task_struct *task)
{
	struct { __u64 s, ns; } time = {};

	(void)task;
	inject_syscall(__NR_clock_gettime, 3 /* CLOCK_THREAD_CPUTIME_ID */, (long)&time, 0, 0);
	return time.s * 1000000000 + time.ns;
}

/* There is no program at the switches of CPUs. */
enum { TASK_SWITCHES = 0 };

/* The probes are the process's own. */
enum { LINKS_SHARED = 0 };

#endif
