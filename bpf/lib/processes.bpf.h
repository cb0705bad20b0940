/* SPDX-License-Identifier: GPL-2.0 */
/* The processes that sent a record, so that their end is told and no other's.  To be included
 * after cuda.bpf.h. */
#ifndef PROCESSES_BPF_H
#define PROCESSES_BPF_H

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, char);
} processes SEC(".maps");

/* To be called for a thread's records; known is the thread's own.  True the first time: then
 * the reader should look at the process soon, it may not live long. */
static __always_inline bool process_is_new(bool *known, __u32 pid)
{
	char yes = 1;

	if (*known)
		return false;
	*known = true;
	if (bpf_map_update_elem(&processes, &pid, &yes, BPF_ANY))
		lose(LOST_PROCESS);
	return true;
}

/* Defines the programs that call gone(pid) when a process that sent a record has ended, or exec
 * has replaced its program; known is that of struct thread_data.  process_progs_prepare() leaves
 * them out. */
#define PROCESS_PROGRAMS(known, gone)						\
SEC("raw_tp/sched_process_exit") int process_exit(void *ctx)			\
{										\
	__u32 pid = bpf_get_current_pid_tgid() >> 32;				\
										\
	if (process_ends() && !bpf_map_delete_elem(&processes, &pid))		\
		gone(pid);							\
	return 0;								\
}										\
SEC("raw_tp/sched_process_exec") int process_exec(void *ctx)			\
{										\
	__u32 pid = bpf_get_current_pid_tgid() >> 32;				\
	struct thread *t = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), NULL, 0); \
										\
	if (t) {								\
		call_dropped(t);						\
		t->data.known = false;						\
	}									\
	if (!bpf_map_delete_elem(&processes, &pid))				\
		gone(pid);							\
	return 0;								\
}

#endif
