/* SPDX-License-Identifier: GPL-2.0 */
/* Only for tools written by scripts/new-tool --as hist or top: probes of functions of any class, which aggregate calls by
 * function. */
#ifndef NEWTOOL_CALL_AGGREGATE_BPF_H
#define NEWTOOL_CALL_AGGREGATE_BPF_H
#include <stdbool.h>
#include <linux/types.h>
#include "abi/bytes.h"
#include "abi/aggregate_group.h"

struct call_data { struct bytes bytes; };
#define CALL_DATA struct call_data

struct thread_data { struct aggregate_record record; };
#define THREAD_DATA struct thread_data

#define CUDA_NESTED(ctx, t, id) bytes_nested(ctx, id, &(t)->call.data.bytes)
#include "lib/bytes.bpf.h"
#include "lib/cuda.bpf.h"
#include "lib/aggregate.bpf.h"
#include "lib/inflight.bpf.h"

/* Set by the tool: aggregate the series CALLS_BYTES, too. */
const volatile bool calls_bytes;

static __always_inline bool calls_enter(struct pt_regs *ctx, struct thread *t)
{
	__u64 id;

	if (!call_enter(ctx, t, &id))
		return false;
	bytes_enter(&t->call, id, &t->call.data.bytes);
	return true;
}

static __always_inline void calls_leave(struct pt_regs *ctx, struct thread *t)
{
	__u64 ns = bpf_ktime_get_ns() - t->call.start, bytes;
	struct aggregate_key key = aggregate_key(t->call.id);
	bool failed = call_result(ctx, &t->call);

	t->call.sp = 0;
	bytes = bytes_leave(&t->call.data.bytes, failed);
	if (aggregate_stacks) {
		aggregate_send(ctx, t, &t->data.record, &key, ns, bytes, ns, failed);
		return;
	}
	aggregate_add(&key, ns, bytes, ns, failed);
	if (calls_bytes && !failed) {
		key.series = CALLS_BYTES;
		aggregate_add(&key, bytes, 0, bytes, false);
	}
}

CUDA_PROGRAMS(calls_enter, calls_leave)

#endif
