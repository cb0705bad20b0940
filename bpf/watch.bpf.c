// SPDX-License-Identifier: GPL-2.0
/* Reports when a process of the traced command starts a program, forks or loads a library, and
 * stops it until the probes are attached, so that none of its calls is missed. */
#include "lib/watched.bpf.h"

enum { SIGSTOP = 19 };

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1024 * 1024);
} watch_events SEC(".maps");

/* processes that wait for this tool; other tools find it by its name: common/probe/stop_refs.h */
BPF_HASH(cuda_bpf_held, unsigned int, char, 65536)

/* processes that were forked and have not run yet */
BPF_HASH(unborn, unsigned int, char, 65536)

/* for perf events that record mappings; no program uses it, but libbpf's reader needs one */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(int));
	__uint(value_size, sizeof(int));
} watch_mappings SEC(".maps");

__u64 watch_lost;
const volatile bool watch_is_tree;	/* for watch_tree() */
bool watch_births;	/* watch_birth() is attached */
bool watch_unshares;	/* shared links are to be removed: no further child is to rely on them */

/* The process is stopped on its way out of the kernel. */
static __always_inline bool hold(unsigned int pid)
{
	char yes = 1;

	if (bpf_map_update_elem(&cuda_bpf_held, &pid, &yes, BPF_ANY)) {
		__sync_fetch_and_add(&watch_lost, 1);	/* the tool resumes only what is in there */
		return false;
	}
	if (!bpf_send_signal(SIGSTOP))
		return true;
	bpf_map_delete_elem(&cuda_bpf_held, &pid);
	return false;
}

/* Without a record a process is not stopped: it would not be resumed. */
static __always_inline void tell(unsigned short kind, unsigned int pid, bool stop)
{
	struct watch_event *e = bpf_ringbuf_reserve(&watch_events, sizeof(*e), 0);

	if (!e) {
		__sync_fetch_and_add(&watch_lost, 1);
		return;
	}
	e->head.pid = pid;
	e->head.kind = kind;
	e->head.frames = 0;
	e->stopped = stop && hold(pid);
	e->tid = bpf_get_current_pid_tgid();
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
}

/* No other process is ever stopped. */
static __always_inline void tell_mapped(unsigned short kind)
{
	unsigned int pid = bpf_get_current_pid_tgid() >> 32;

	if (bpf_map_lookup_elem(&watched, &pid))
		tell(kind, pid, true);
}

/* The second argument is the id of the thread before, which is now that of the process. */
SEC("raw_tp/sched_process_exec")
int watch_exec(struct bpf_raw_tracepoint_args *ctx)
{
	unsigned int pid = bpf_get_current_pid_tgid() >> 32;
	bool by_leader = (unsigned int)ctx->args[1] == pid;

	if (watch_is_tree)
		tell_mapped(by_leader ? RECORD_EXEC : WATCH_LEADER_NEW);
	else if (!by_leader)
		tell(WATCH_LEADER_NEW, pid, false);
	return 0;
}

/* Before the new program is loaded (Linux 6.10). */
SEC("raw_tp/sched_prepare_exec")
int watch_execs(void *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();

	if ((unsigned int)id != (unsigned int)(id >> 32))
		tell(WATCH_LEADER_SOON, id >> 32, false);
	return 0;
}

/* The first thread ends by itself: not by exit_group(2), a signal, or another thread's exec. */
SEC("raw_tp/sched_process_exit")
int watch_leader(void *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u64 id = bpf_get_current_pid_tgid();
	unsigned int pid = id >> 32;

	if ((unsigned int)id != pid || process_ends() || process_exits(task) || process_execs())
		return 0;
	if (!watch_is_tree || bpf_map_lookup_elem(&watched, &pid))
		tell(WATCH_LEADER_ENDS, pid, false);
	return 0;
}

/* On _dl_debug_state() of a dynamic linker, which calls it, for debuggers, when libraries have been
 * mapped and before their code runs (glibc and musl, r_brk of <link.h>). */
SEC("uprobe")
int watch_loaded(struct pt_regs *ctx)
{
	if (shared_link_counts(bpf_get_attach_cookie(ctx)))
		tell_mapped(WATCH_MAPPED);
	return 0;
}

/* In the parent, before the child runs.  A child of a process whose files all have shared links has
 * them too: it need not be stopped. */
SEC("raw_tp/sched_process_fork")
int watch_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *child = (void *)ctx->args[1];
	unsigned int parent = bpf_get_current_pid_tgid() >> 32;
	unsigned int pid = BPF_CORE_READ(child, tgid);
	__u8 *parents = bpf_map_lookup_elem(&watched, &parent), how;
	char yes = 1;

	if (pid == parent || !parents)
		return 0;
	how = watch_unshares ? 0 : *parents & WATCH_SHARED;
	if (bpf_map_update_elem(&watched, &pid, &how, BPF_ANY)) {
		__sync_fetch_and_add(&watch_lost, 1);
		how = 0;	/* shared links skip it */
	}
	if (how || !watch_births || bpf_map_update_elem(&unborn, &pid, &yes, BPF_ANY))
		tell(RECORD_FORK, pid, false);
	return 0;
}

/* A forked child shares its parent's pages, so it page-faults as soon as it writes to its stack:
 * the first thing it does.  The event is inherited at fork, which no tracepoint or link is; it
 * costs processes outside the tree nothing. */
SEC("perf_event")
int watch_birth(void *ctx)
{
	unsigned int pid = bpf_get_current_pid_tgid() >> 32;

	if (!bpf_map_delete_elem(&unborn, &pid))
		tell(RECORD_FORK, pid, true);
	return 0;
}

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct qstr { const unsigned char *name; };
struct dentry { struct qstr d_name; };
struct path { struct dentry *dentry; };
struct file { struct path f_path; };
struct vm_area_struct { struct file *vm_file; unsigned long vm_flags; };
#pragma clang attribute pop

enum { EXECUTABLE = 4 };	/* VM_EXEC of linux/mm.h */

/* Of every process: after it has mapped a file (kernel/events/core.c).  The records that the kernel makes there itself would wake the
 * tool for every program that starts. */
SEC("fentry/perf_event_mmap")
int watch_mmap(__u64 *ctx)
{
	struct vm_area_struct *vma = (void *)ctx[0];
	struct file *file = vma->vm_file;
	char name[WATCH_NAME] = "";

	if (!file || !(vma->vm_flags & EXECUTABLE))
		return 0;
	bpf_probe_read_kernel_str(name, sizeof(name), file->f_path.dentry->d_name.name);
	if (watch_is_cuda(name))
		tell(WATCH_MAPPED, bpf_get_current_pid_tgid() >> 32, false);
	return 0;
}

SEC("raw_tp/sched_process_exit")
int watch_exit(void *ctx)
{
	unsigned int pid = bpf_get_current_pid_tgid() >> 32;

	if (!process_ends() || bpf_map_delete_elem(&watched, &pid))
		return 0;
	bpf_map_delete_elem(&unborn, &pid);
	bpf_map_delete_elem(&cuda_bpf_held, &pid);
	tell(RECORD_EXIT, pid, false);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
