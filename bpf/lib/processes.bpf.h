/* SPDX-License-Identifier: GPL-2.0 */
/* The processes that sent a record: only their forks, execs and exits are reported. */
#ifndef PROCESSES_BPF_H
#define PROCESSES_BPF_H
#include "lib/cuda.bpf.h"
#include "lib/records.bpf.h"
#include "abi/record.h"

/* Process id to the program that it runs, as in struct process_event. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u64);
} processes SEC(".maps");

/* The program that a process runs; from now on what happens to it is reported. */
static __noinline __u64 process_program(__u32 pid)
{
	__u64 now, *known = bpf_map_lookup_elem(&processes, &pid);

	if (known)
		return *known;
	now = bpf_ktime_get_ns();
	if (!bpf_map_update_elem(&processes, &pid, &now, BPF_NOEXIST))
		return now;
	known = bpf_map_lookup_elem(&processes, &pid);	/* another thread was first */
	if (known)
		return *known;
	lose(LOST_PROCESS);
	return now;
}

/* Call for a thread's records.  Returns true the first time: the reader should then inspect the
 * process soon, as it may not live long. */
static __always_inline bool process_is_new(struct thread *t, __u32 pid)
{
	if (t->program)
		return false;
	t->program = process_program(pid);
	t->pid = pid;
	return true;
}

static __always_inline void process_send(__u16 kind, __u32 pid, __u64 program, __u32 parent,
					 __u64 parent_program)
{
	struct process_event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e) {
		lose(LOST_PROCESS);
		return;
	}
	e->head.pid = pid;
	e->head.kind = kind;
	e->head.frames = 0;
	e->time = bpf_ktime_get_ns();
	e->program = program;
	e->parent_program = parent_program;
	e->parent = parent;
	e->unused = 0;
	thread_comm(e->comm);
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
}

/* Call where a thread ends. */
static __always_inline void process_exited(void)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	__u64 *known, program;

	if (!process_ends())
		return;
	known = bpf_map_lookup_elem(&processes, &pid);
	if (!known)
		return;
	program = *known;
	bpf_map_delete_elem(&processes, &pid);
	process_send(RECORD_EXIT, pid, program, 0, 0);
}

/* Call where exec has replaced a process's program.  stays: report what happens to it even if the
 * new program sends no record. */
static __always_inline void process_execed(struct thread *t, bool stays)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	__u64 *known = bpf_map_lookup_elem(&processes, &pid), program;

	if (t)
		t->program = 0;
	if (!known)
		return;
	program = *known;
	if (stays)
		*known = bpf_ktime_get_ns();
	else
		bpf_map_delete_elem(&processes, &pid);
	process_send(RECORD_EXEC, pid, program, 0, 0);
}

/* Call where a thread has made a child, before the child runs. */
static __always_inline void process_forked(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *child = (void *)ctx->args[1];
	__u32 parent = bpf_get_current_pid_tgid() >> 32, pid = BPF_CORE_READ(child, tgid);
	__u64 now = bpf_ktime_get_ns(), *known;

	if (pid == parent)
		return;
	known = bpf_map_lookup_elem(&processes, &parent);
	if (!known)
		return;
	if (bpf_map_update_elem(&processes, &pid, &now, BPF_ANY))
		lose(LOST_PROCESS);
	else
		process_send(RECORD_FORK, pid, now, parent, *known);
}

/* Defines the programs that report exits and execs.  dropped(thread) is called where exec has ended
 * all that a thread was doing.  process_progs_prepare() disables the programs. */
#define PROCESS_PROGRAMS(dropped, stays)					\
SEC("raw_tp/sched_process_exit") int process_exit(void *ctx)			\
{										\
	process_exited();							\
	return 0;								\
}										\
SEC("raw_tp/sched_process_exec") int process_exec(void *ctx)			\
{										\
	struct thread *t = thread_known();					\
										\
	if (t)									\
		dropped(t);							\
	process_execed(t, stays);						\
	return 0;								\
}

#endif
