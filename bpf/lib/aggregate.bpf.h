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

/* A call to count. */
struct aggregated {
	__u64 value;		/* is summed up */
	__u64 ns;		/* a second sum: how long it took, or the second value */
	__u64 shown;		/* the value of the histogram */
	bool failed;
};

/* r belongs to the thread. */
static __always_inline void aggregate_send(struct pt_regs *ctx, struct thread *t, struct aggregate_record *r,
					   const struct aggregate_key *key, const struct aggregated *c)
{
	const __u64 head = offsetof(struct aggregate_record, stack);
	bool first;
	__u32 n;

	r->head.pid = thread_pid();
	r->head.kind = c->failed ? AGGREGATE_FAILED : AGGREGATE_CALL;
	r->key = *key;
	r->value = c->value;
	r->ns = c->ns;
	r->shown = c->shown;
	thread_comm(r->comm);
	n = stack_take(ctx, r->stack, 0);
	r->head.frames = n;
	if (process_known(t, r->head.pid, &first))
		records_send(r, head + stack_bytes(n), first);
}

static __always_inline void aggregate_call(struct pt_regs *ctx, struct thread *t, struct aggregate_record *r,
					   const struct aggregate_key *key, const struct aggregated *c)
{
	if (aggregate_stacks)
		aggregate_send(ctx, t, r, key, c);
	else
		aggregate_add(key, c->value, c->ns, c->shown, c->failed);
}

/* A call whose time is counted, and perhaps a second value. */
struct aggregated_time {
	__u64 ns, second;
	__u64 more;		/* the second series' part of ns */
	bool failed;
};

static __always_inline void aggregate_timed(struct pt_regs *ctx, struct thread *t, struct aggregate_record *r,
					    struct aggregate_key *key, const struct aggregated_time *c)
{
	r->more = c->more;
	aggregate_call(ctx, t, r, key, &(struct aggregated){ c->ns, c->second, c->ns, c->failed });
	if (aggregate_stacks || !aggregate_second || c->failed)
		return;
	key->series = AGGREGATE_SECOND;
	aggregate_add(key, c->second, c->more, c->second, false);
}

/* Needed only with records: stacks get their names from the mappings.  A tool that follows other calls than the one in flight
 * defines what drops them, too. */
#ifndef AGGREGATE_DROPPED
#define AGGREGATE_DROPPED call_dropped
#endif
PROCESS_PROGRAMS(AGGREGATE_DROPPED)

char LICENSE[] SEC("license") = "GPL";
#endif
