/* SPDX-License-Identifier: GPL-2.0 */
/* The processes that sent a record: only their forks, execs and exits are reported. */
#ifndef LIB_PROCESSES_BPF_H
#define LIB_PROCESSES_BPF_H
#include "abi/bpf_names.h"
#include "lib/cuda.bpf.h"
#include "lib/records.bpf.h"
#include "abi/process.h"
#include "abi/record.h"

enum { PROCESSES = 65536 };

/* By process id. */
BPF_HASH(processes, __u32, struct process, PROCESSES)

struct shares process_shares SEC(SECTION_PROCESSES);

/* Adds a process; false if it exists, or if there are too many. */
static __always_inline bool process_add(__u32 pid, __u64 program)
{
	struct process p = { .program = program };

	return share_add(&processes, &pid, &p, &p.share, &process_shares, PROCESSES);
}

static __always_inline void process_drop(__u32 pid, __u32 share)
{
	if (!bpf_map_delete_elem(&processes, &pid))
		share_give_back(&process_shares, share);
}

/* The program that a process runs, whose fork, exec and exit are reported from now on.  0: too many. */
GLOBAL_SUBPROG __u64 process_program(__u32 pid)
{
	struct process *known = bpf_map_lookup_elem(&processes, &pid);
	__u64 now;

	if (known)
		return known->program;
	now = bpf_ktime_get_ns();
	if (process_add(pid, now))
		return now;
	known = bpf_map_lookup_elem(&processes, &pid);	/* another thread was first */
	if (known)
		return known->program;
	lose(LOST_PROC_TABLE_FULL);
	return 0;
}

/* Call for a thread's records.  Returns false if they must not be sent: the end of the process would not be reported, and the
 * next one with its id would be taken for it.  Sets *first the first time: the reader should then inspect the process soon, as
 * it may not live long. */
static __always_inline bool process_known(struct thread *t, __u32 pid, bool *first)
{
	*first = !t->program;
	if (t->program)
		return true;
	t->program = process_program(pid);
	t->pid = pid;
	return t->program;
}

/* The program of a thread whose process is known already; 0: it is not. */
static __always_inline __u64 program_if_known(struct thread *t, __u32 pid)
{
	const struct process *p;

	if (t->program)
		return t->program;
	p = bpf_map_lookup_elem(&processes, &pid);
	if (!p)
		return 0;
	t->pid = pid;
	return t->program = p->program;
}

/* Never refused: to make a process costs its user more than the record costs the tool. */
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
	bpf_ringbuf_submit(e, records_wakeup(sizeof(*e), true));
}

/* Call where a thread ends. */
static __always_inline void process_exited(void)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	struct process *known, was;

	if (!process_ends())
		return;
	known = bpf_map_lookup_elem(&processes, &pid);
	if (!known)
		return;
	was = *known;
	process_drop(pid, was.share);
	process_send(RECORD_EXIT, pid, was.program, 0, 0);
}

/* Call where exec has replaced a process's program.  stays: report its further events even if the new program sends no
 * record. */
static __always_inline void process_execed(struct thread *t, bool stays)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	struct process *known = bpf_map_lookup_elem(&processes, &pid), was;

	if (t)
		t->program = 0;
	if (!known)
		return;
	was = *known;
	if (stays)
		known->program = bpf_ktime_get_ns();
	else
		process_drop(pid, was.share);
	process_send(RECORD_EXEC, pid, was.program, 0, 0);
}

/* Call where a thread has made a child, before the child runs. */
static __always_inline void process_forked(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *child = (void *)ctx->args[1];
	__u32 parent = bpf_get_current_pid_tgid() >> 32, pid = BPF_CORE_READ(child, tgid);
	__u64 now = bpf_ktime_get_ns();
	struct process *known, *stale;

	if (pid == parent)
		return;
	known = bpf_map_lookup_elem(&processes, &parent);
	if (!known)
		return;
	stale = bpf_map_lookup_elem(&processes, &pid);
	if (stale)
		process_drop(pid, stale->share);
	if (process_add(pid, now))
		process_send(RECORD_FORK, pid, now, parent, known->program);
	else
		lose(LOST_PROCESS);
}

/* Defines the programs that report exits and execs.  dropped(thread) is called where exec has ended
 * all that a thread was doing.  process_progs_prepare() may disable process_exit. */
#define PROCESS_PROGRAMS(dropped)						\
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
	handles_dropped();							\
	process_execed(t, false);						\
	return 0;								\
}

#endif
