/* SPDX-License-Identifier: GPL-2.0 */
/* Aggregates calls: in the kernel if no call stacks are wanted, sending nothing; else by sending a
 * record per call, which user space aggregates. */
#ifndef LIB_AGGREGATE_BPF_H
#define LIB_AGGREGATE_BPF_H
#include "lib/aggregate_counts.bpf.h"
#include "lib/processes.bpf.h"
#include "lib/stack.bpf.h"

/* Set by the tool. */
const volatile bool aggregate_stacks;	/* send records */
const volatile bool aggregate_second;	/* calls have a second value, with a histogram of its own */

/* r belongs to the thread. */
static __always_inline void aggregate_send(struct pt_regs *ctx, struct thread *t,
					   struct aggregate_record *r, const struct aggregate_key *key,
					   __u64 value, __u64 ns, __u64 shown, bool failed)
{
	const __u64 head = offsetof(struct aggregate_record, stack);
	bool first;
	__u32 n;

	r->head.pid = thread_pid();
	r->head.kind = failed ? AGGREGATE_FAILED : AGGREGATE_CALL;
	r->key = *key;
	r->value = value;
	r->ns = ns;
	r->shown = shown;
	thread_comm(r->comm);
	n = stack_take(ctx, r->stack, 0);
	r->head.frames = n;
	if (process_known(t, r->head.pid, &first))
		records_send(r, head + stack_bytes(n), first);
}

static __always_inline void aggregate_call(struct pt_regs *ctx, struct thread *t, struct aggregate_record *r,
					   const struct aggregate_key *key, __u64 value, __u64 ns, __u64 shown, bool failed)
{
	if (aggregate_stacks)
		aggregate_send(ctx, t, r, key, value, ns, shown, failed);
	else
		aggregate_add(key, value, ns, shown, failed);
}

/* A call that took ns; more: its part of ns of the second series. */
static __always_inline void aggregate_timed(struct pt_regs *ctx, struct thread *t, struct aggregate_record *r,
					    struct aggregate_key *key, __u64 ns, __u64 second, __u64 more, bool failed)
{
	r->more = more;
	aggregate_call(ctx, t, r, key, ns, second, ns, failed);
	if (aggregate_stacks || !aggregate_second || failed)
		return;
	key->series = AGGREGATE_SECOND;
	aggregate_add(key, second, more, second, false);
}

/* Needed only with records: stacks get their names from the mappings.  A tool that follows other calls than the one in flight
 * defines what drops them, too. */
#ifndef AGGREGATE_DROPPED
#define AGGREGATE_DROPPED call_dropped
#endif
PROCESS_PROGRAMS(AGGREGATE_DROPPED)

char LICENSE[] SEC("license") = "GPL";
#endif
