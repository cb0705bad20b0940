/* SPDX-License-Identifier: GPL-2.0 */
/* The functions of lib/task.bpf.h for --attach inject, from what the program and the tool report of a thread. */
#ifndef AGENT_BPF_TASK_USER_H
#define AGENT_BPF_TASK_USER_H
#include <asm/unistd.h>
#include "abi/stack_unwind.h"
#include "agent/bpf/helpers.h"
#include "machine/stub_frame.h"

/* ---- no verifier checks bounds */

/* In a register, as memory could change between the check and the use. */
static inline __attribute__((always_inline)) __u64 bounded(__u64 value, const __u64 max)
{
	__asm__ volatile("" : "+r"(value));
	return value <= max ? value : max;
}

static inline __attribute__((always_inline)) __u64 checked(__u64 value, const __u64 max)
{
	return value;
}

static inline __attribute__((always_inline)) __u64 unlinked(__u64 value, const __u64 mask)
{
	return value & mask;
}

static inline __attribute__((always_inline)) __u32 highest_bit(__u64 v)
{
	return 63 - __builtin_clzll(v | 1);
}

/* ---- tasks */

/* The tool reports exits (common/session/attach_inject.h). */
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
	return inject_self.task.tgid;
}

static __always_inline __u32 thread_own_id(void)
{
	return inject_self.task.pid;
}

static __always_inline __u64 thread_self(void)
{
	return thread_pointer();
}

/* Called only for a thread that ends before its process. */
static __always_inline bool process_exits(const struct task_struct *task)
{
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

static __always_inline void process_comm(char comm[16])
{
	inject_copy(comm, inject_leader_comm(), 16);
}

/* The tool reads it in /proc. */
static __always_inline __u32 process_real_user(void)
{
	return ~0u;
}

/* The tool checks it when a process connects. */
static __always_inline bool process_is_in_cgroup(__u32 level, __u64 cgroup)
{
	return true;
}

static __always_inline __u32 process_copied(void)
{
	return inject_self.task.parent;
}

static __always_inline __u32 share_user(void)
{
	return inject_self.task.uid;
}

/* In the process's own memory, which no other process can change. */
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

	sys4(__NR_clock_gettime, 3 /* CLOCK_THREAD_CPUTIME_ID */, (long)&time, 0, 0);
	return time.s * 1000000000 + time.ns;
}

/* Not counted: /proc/PID/schedstat would cost each call three system calls, which a seccomp filter may forbid. */
static __always_inline __u64 task_run_delay(const struct task_struct *task)
{
	return 0;
}

/* There is no program at the switches of CPUs, nor one that interrupts a thread. */
static __always_inline bool task_is_runnable(const struct task_struct *task)
{
	return false;
}

static __always_inline void thread_registers(machine_regs *regs)
{
}

/* ---- no return address is replaced: a call whose return is awaited is made by a stub */

struct return_instance;

static __always_inline struct return_instance *returns_of(void *task)
{
	return NULL;
}

static __always_inline struct return_instance *returns_first(void)
{
	return NULL;
}

/* Return true if the stub that entered a function there has not returned: see INJECT_STUB_MAGIC. */
static __always_inline bool is_armed(__u64 entry)
{
	__u64 word = 0;

	return !bpf_probe_read_user(&word, sizeof(word), (void *)(entry - STUB_MARK)) && word == (INJECT_STUB_MAGIC ^ entry);
}

static __always_inline __u64 return_address(__u64 at, __u64 pc)
{
	return pc;
}

/* They are zero already. */
static __always_inline void returns_list(struct stack_copy *c, struct return_instance *r)
{
}

/* ---- a thread whose element is in shared memory: other registers than its thread pointer are unknown */

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
	return false;
}

static __always_inline __u64 task_self(const struct task_struct *task)
{
	return task->thread ? task->thread->self : 0;
}

static __always_inline __u64 task_switches(const struct task_struct *task)
{
	return 0;
}

static __always_inline void inflight_registers(struct task_struct *task, struct stack_copy *c)
{
}

#endif
