// SPDX-License-Identifier: GPL-2.0
/* What most tracers do today: one record at the entry and one at the return, each of which wakes
 * the reader. */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

struct record {
	__u64 time, ids, args[6], ret;
	__u32 what, pad;
	char comm[16], name[80];
};

_Static_assert(sizeof(struct record) == 176, "as large as theirs");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} events SEC(".maps");

__u64 lost;

static __always_inline void send(struct pt_regs *ctx, __u32 what)
{
	struct record *r = bpf_ringbuf_reserve(&events, sizeof(*r), 0);

	if (!r) {
		__sync_fetch_and_add(&lost, 1);
		return;
	}
	r->time = bpf_ktime_get_ns();
	r->ids = bpf_get_current_pid_tgid();
	r->what = what;
	r->args[0] = PT_REGS_PARM1(ctx);
	r->args[1] = PT_REGS_PARM2(ctx);
	r->args[2] = PT_REGS_PARM3(ctx);
	r->args[3] = PT_REGS_PARM4(ctx);
	r->args[4] = PT_REGS_PARM5(ctx);
	r->ret = PT_REGS_RC(ctx);
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	bpf_ringbuf_submit(r, 0);
}

SEC("uprobe") int cuda_enter(struct pt_regs *ctx)
{
	send(ctx, 0);
	return 0;
}

SEC("uprobe") int cuda_return(struct pt_regs *ctx)
{
	send(ctx, 1);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
