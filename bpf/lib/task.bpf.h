/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's data about tasks.  With --attach inject the programs run in the traced process (agent/bpf), where other
 * code has the same functions. */
#ifndef LIB_TASK_BPF_H
#define LIB_TASK_BPF_H
#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include "abi/stack_unwind.h"
#include "lib/backend.bpf.h"
#include "machine/regs.bpf.h"

#ifndef __bpf__
#include "agent/bpf/task_user.h"
#include "machine/unwind.bpf.h"
#else
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "machine/thread.bpf.h"
#include "machine/unwind.bpf.h"

/* ---- for the verifier: bounds that it sees whatever a compiler makes of the program */

/* Returns value, at most max: for an index or a size.  In assembly, because a compiler may check another register than the
 * one that is used, or leave out a check that only the verifier needs. */
static __always_inline __u64 bounded(__u64 value, const __u64 max)
{
	asm volatile("if %[value] <= %[max] goto +1\n"
		     "%[value] = %[max]" : [value] "+r"(value) : [max] "ri"(max));
	return value;
}

/* The same where value was compared with max before: for the verifier only. */
static __always_inline __u64 checked(__u64 value, const __u64 max)
{
	return bounded(value, max);
}

/* Returns the bits of value that are in mask, for a mask of 31 bits, unrelated to value for the verifier: it would otherwise
 * distinguish the iterations of a loop by them. */
static __always_inline __u64 unlinked(__u64 value, const __u64 mask)
{
	asm volatile("%[value] &= %[mask]" : [value] "+r"(value) : [mask] "i"(mask));
	return value;
}

/* The number of the highest bit set; also 0 for 0.  Without branches: the verifier would walk all combinations. */
static __always_inline __u32 highest_bit(__u64 v)
{
	__u64 n = 0, more;

	for (int bits = 5; bits >= 0; bits--) {
		more = v >> (1 << bits);
		barrier_var(more);
		more = -more >> 63 << bits;	/* more is less than 2^63 */
		barrier_var(more);
		v >>= more;
		n += more;
	}
	return n;
}

/* ---- tasks */

/* The fields of kernel structs that the tools read; CO-RE relocates them. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
typedef struct { int counter; } atomic_t;
typedef struct { unsigned int val; } kuid_t;
struct user_namespace { struct user_namespace *parent; int level; kuid_t owner; };
struct cred { kuid_t uid; struct user_namespace *user_ns; };
struct signal_struct { atomic_t live; unsigned int flags; struct task_struct *group_exec_task; };
struct signal_struct___5_16 { struct task_struct *group_exit_task; };
struct mm_struct { unsigned long start_stack; };
struct sched_entity { __u64 sum_exec_runtime; };
struct sched_info { __u64 run_delay; };
struct upid { int nr; };
struct pid { unsigned int level; struct upid numbers[1]; };
struct task_struct {
	int pid, tgid;
	char comm[16];
	unsigned int flags;
	struct signal_struct *signal;
	struct mm_struct *mm;
	struct cred *cred, *real_cred;
	struct thread_struct thread;
	struct sched_entity se;
	struct sched_info sched_info;	/* CONFIG_SCHED_INFO */
	struct task_struct *group_leader, *real_parent;
	__u64 start_time;	/* CLOCK_MONOTONIC, ns */
	struct pid *thread_pid;
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

/* gettid(): the thread's id in its own pid namespace */
static __always_inline __u32 thread_own_id(void)
{
	struct pid *pid = BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), thread_pid);
	__u64 at = BPF_CORE_READ(pid, level) * bpf_core_type_size(struct upid);
	__u32 id = 0;

	bpf_probe_read_kernel(&id, sizeof(id), (void *)pid + bpf_core_field_offset(struct pid, numbers) + at);
	return id;
}

/* Its thread pointer: machine/thread.h. */
static __always_inline __u64 thread_self(void)
{
	return BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), THREAD_POINTER);
}

enum { SIGNAL_GROUP_EXIT = 4 };	/* include/linux/sched/signal.h */

/* Return true if the task's whole process ends, by exit() or a signal. */
static __always_inline bool process_exits(struct task_struct *task)
{
	return BPF_CORE_READ(task, signal, flags) & SIGNAL_GROUP_EXIT;
}

/* Return true if a thread of the process executes a program, which ends all others. */
static __always_inline bool process_execs(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct signal_struct *signal = BPF_CORE_READ(task, signal);

	if (bpf_core_field_exists(signal->group_exec_task))
		return BPF_CORE_READ(signal, group_exec_task);
	return BPF_CORE_READ((struct signal_struct___5_16 *)signal, group_exit_task);
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

/* Of the process's first thread. */
static __always_inline void process_comm(char comm[16])
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	const struct task_struct *leader = task->group_leader;

	for (int i = 0; i < 16; i++)
		comm[i] = leader->comm[i];
}

/* The real user of the process; ~0: unknown. */
static __always_inline __u32 process_real_user(void)
{
	return BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), real_cred, uid.val);
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

/* The user to charge for the calling thread.  Inside a user namespace it is the creator of the outermost one, as the root of a
 * namespace can have many other users (proc_user() is the same). */
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

/* How long the task has been runnable without a CPU, preempted or after it was woken, in ns: up to its last switch to a CPU.  0 if the
 * kernel does not count it. */
static __always_inline __u64 task_run_delay(struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info) ? BPF_CORE_READ(task, sched_info.run_delay) : 0;
}

/* Return true if the task could go on: another one has its CPU. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct task_struct___state { unsigned int __state; };
#pragma clang attribute pop

static __always_inline bool task_is_runnable(struct task_struct *task)
{
	return !BPF_CORE_READ((struct task_struct___state *)task, __state);
}

/* The registers of the calling thread in user mode, as it last entered the kernel. */
static __always_inline void thread_registers(machine_regs *regs)
{
	bpf_probe_read_kernel(regs, sizeof(*regs), (void *)bpf_task_pt_regs(bpf_get_current_task_btf()));
}

/* The map python_processes has the processes that run Python. */
struct python_process;
enum { PROCESS_PYTHON = 0 };

static __always_inline const struct python_process *process_python(void)
{
	return NULL;
}

/* ---- return addresses that the kernel has replaced on the user's stack, to see functions return */

/* The kernel's list, innermost first; orig_ret_vaddr is the program's return address (include/linux/uprobes.h). */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct return_instance { unsigned long stack, orig_ret_vaddr; struct return_instance *next; };
struct uprobe_task { struct return_instance *return_instances; };
struct task_struct___utask { struct uprobe_task *utask; };
#pragma clang attribute pop

static __always_inline struct return_instance *returns_of(void *task)
{
	return BPF_CORE_READ((struct task_struct___utask *)task, utask, return_instances);
}

static __always_inline struct return_instance *returns_first(void)
{
	return returns_of((void *)bpf_get_current_task());
}

enum { RETURNS_MAX = 64 };

GLOBAL_SUBPROG __u64 return_address_saved(__u64 at, __u64 pc)
{
	struct return_instance *r = returns_first();

	for (int i = 0; i < RETURNS_MAX && r; i++) {
		if (BPF_CORE_READ(r, stack) == at)
			return BPF_CORE_READ(r, orig_ret_vaddr);
		r = BPF_CORE_READ(r, next);
	}
	return pc;
}

/* Returns the program's return address, where it is pc for a function that was entered with this stack pointer. */
static __always_inline __u64 return_address(__u64 at, __u64 pc)
{
	return !pc || pc & 0xfff ? pc : return_address_saved(at, pc);	/* see is_armed() */
}

/* Lists the innermost return addresses, from r on, for user space. */
static __always_inline void returns_list(struct stack_copy *c, struct return_instance *r)
{
	for (int i = 0; i < STACK_RETURNS; i++) {
		c->returns[i].at = r ? BPF_CORE_READ(r, stack) : 0;
		c->returns[i].pc = r ? BPF_CORE_READ(r, orig_ret_vaddr) : 0;
		r = r ? BPF_CORE_READ(r, next) : NULL;
	}
}

#include "machine/armed.bpf.h"
#include "machine/order.bpf.h"

/* ---- another thread than the one that reads it: for lib/inflight.bpf.h's program */

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

/* Its thread pointer. */
static __always_inline __u64 task_self(const struct task_struct *task)
{
	return task->THREAD_POINTER;
}

/* How often it has left a CPU. */
static __always_inline __u64 task_switches(const struct task_struct *task)
{
	const struct task_struct___switches *switched = (void *)task;

	return switched->nvcsw + switched->nivcsw;
}

/* The registers of a thread in user mode, as it last entered the kernel. */
static __always_inline void inflight_registers(struct task_struct *task, struct stack_copy *c)
{
	struct unwind_start start;
	machine_regs regs = {};

	bpf_probe_read_kernel(&regs, sizeof(regs), (void *)bpf_task_pt_regs(task));
	unwind_start_here(&start, &regs);
	unwind_registers(c, &start);
	returns_list(c, returns_of(task));
}

#endif

#include "machine/returns.bpf.h"

/* Maps, by the names that BCC has for them. */
#define BPF_HASH(name, key_type, value_type, n)					\
struct {									\
	__uint(type, BPF_MAP_TYPE_HASH);					\
	__uint(map_flags, BPF_F_NO_PREALLOC);					\
	__uint(max_entries, n);							\
	__type(key, key_type);							\
	__type(value, value_type);						\
} name SEC(".maps");

/* At most 8000 bytes: since Linux 6.19 an element and its header have 8 KiB (8096 bytes work, 8208 do not, on 6.19, 7.2 and
 * 7.3). */
#define FITS_TASK_STORAGE(type) _Static_assert(sizeof(type) <= 8000, "too large for task storage")

#define BPF_TASK_STORAGE(name, value_type)					\
FITS_TASK_STORAGE(value_type);							\
struct {									\
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);				\
	__uint(map_flags, BPF_F_NO_PREALLOC);					\
	__type(key, int);							\
	__type(value, value_type);						\
} name SEC(".maps");

#endif
