// SPDX-License-Identifier: GPL-2.0
/* What the tools are compared with: programs that do nothing, and the least that a tool of its kind
 * has to do.  The kernel drops what the level leaves out when it loads them. */
#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "reference.h"

const volatile unsigned int level;	/* enum reference_level */
const volatile bool entries_only;

struct call {
	__u64 sp, start, id;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call);
} calls SEC(".maps");

struct sum {
	__u64 count, ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, struct sum);
} sums SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 * 1024 * 1024);
} events SEC(".maps");

static __always_inline void enter(struct pt_regs *ctx, struct call *c)
{
	c->sp = PT_REGS_SP(ctx);
	c->id = bpf_get_attach_cookie(ctx);
	c->start = bpf_ktime_get_ns();
}

static __always_inline void leave(struct call *c)
{
	__u64 ns = bpf_ktime_get_ns() - c->start, *record;
	__u32 at = c->id % 64;
	struct sum *sum;

	c->sp = 0;
	if (level == REFERENCE_TIME) {
		sum = bpf_map_lookup_elem(&sums, &at);
		if (sum) {
			__sync_fetch_and_add(&sum->count, 1);
			__sync_fetch_and_add(&sum->ns, ns);
		}
		return;
	}
	record = bpf_ringbuf_reserve(&events, 64, 0);
	if (!record)
		return;
	__builtin_memset(record, 0, 64);
	record[0] = c->id;
	record[1] = ns;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

static __always_inline struct call *call_here(void)
{
	return bpf_task_storage_get(&calls, bpf_get_current_task_btf(), NULL,
				    BPF_LOCAL_STORAGE_GET_F_CREATE);
}

SEC("uprobe") int cuda_enter(struct pt_regs *ctx)
{
	struct call *c;

	if (level == REFERENCE_EMPTY)
		return 0;
	c = call_here();
	if (c)
		enter(ctx, c);
	return 0;
}

SEC("uprobe") int cuda_return(struct pt_regs *ctx)
{
	struct call *c;

	if (level == REFERENCE_EMPTY)
		return 0;
	c = call_here();
	if (c && c->sp)
		leave(c);
	return 0;
}

/* 1 from an entry: do not arm the return */
SEC("uprobe") int cuda_session(struct pt_regs *ctx)
{
	struct call *c;

	if (entries_only)
		return 1;
	if (level == REFERENCE_EMPTY)
		return 0;
	c = call_here();
	if (!c)
		return 0;
	if (c->sp && c->sp + 8 == PT_REGS_SP(ctx))
		leave(c);
	else
		enter(ctx, c);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
