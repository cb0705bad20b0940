// SPDX-License-Identifier: GPL-2.0
/* The baselines of the tools: programs that do nothing, and programs that do the minimum of a tool
 * of its kind.  When the kernel loads them, it drops the code that the level excludes. */
#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "reference.h"

const volatile unsigned int level;	/* enum reference_level */
const volatile bool entries_only;

/* The kernel's; CO-RE finds the offsets of its fields. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct task_struct { int pid, tgid; char comm[16]; };
#pragma clang attribute pop

struct call {
	__u64 sp, start, id, arg, size;
};

/* The data for one line of output about a call. */
struct record {
	__u64 start, time, ptr, size;
	__u32 pid, tid, id;
	__s32 ret;
	char comm[16];
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
	c->arg = PT_REGS_PARM1(ctx);
	c->size = PT_REGS_PARM2(ctx);
	c->id = bpf_get_attach_cookie(ctx);
	c->start = bpf_ktime_get_ns();
}

static __always_inline void send(struct pt_regs *ctx, const struct call *c, __u64 ns)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct record *r = bpf_ringbuf_reserve(&events, sizeof(*r), 0);

	if (!r)
		return;
	r->start = c->start;
	r->time = c->start + ns;
	r->ptr = c->arg;
	if (c->arg - c->sp < 1 << 16)	/* on the stack: where the function stores a pointer */
		bpf_probe_read_user(&r->ptr, sizeof(r->ptr), (void *)c->arg);
	r->size = c->size;
	r->pid = task->tgid;
	r->tid = task->pid;
	r->id = c->id;
	r->ret = PT_REGS_RC(ctx);
	for (int i = 0; i < 16; i++)
		r->comm[i] = task->comm[i];
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

static __always_inline void leave(struct pt_regs *ctx, struct call *c)
{
	__u64 ns = bpf_ktime_get_ns() - c->start;
	__u32 at = c->id % 64;
	struct sum *sum;

	if (level == REFERENCE_TIME) {
		sum = bpf_map_lookup_elem(&sums, &at);
		if (sum) {
			__sync_fetch_and_add(&sum->count, 1);
			__sync_fetch_and_add(&sum->ns, ns);
		}
	} else {
		send(ctx, c, ns);
	}
	c->sp = 0;
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
		leave(ctx, c);
	return 0;
}

/* Returning 1 from an entry does not arm the return. */
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
		leave(ctx, c);
	else
		enter(ctx, c);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
