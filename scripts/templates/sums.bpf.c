// SPDX-License-Identifier: GPL-2.0
/* Counts calls of these classes by function, with their times: @CLASSES@ */
#include <stdbool.h>
#include <linux/types.h>
@bytes|#include "abi/bytes.h"
#include "abi/aggregate_group.h"

@bytes|struct call_data { struct bytes bytes; };
@bytes|#define CALL_DATA struct call_data
struct thread_data { struct aggregate_record record; };
#define THREAD_DATA struct thread_data
@bytes|#define CUDA_NESTED(ctx, t, id) bytes_nested(ctx, id, &(t)->call.data.bytes)
@bytes|#include "lib/bytes.bpf.h"
#include "lib/cuda.bpf.h"
#include "lib/aggregate.bpf.h"
#include "lib/inflight.bpf.h"

static __always_inline bool enter(struct pt_regs *ctx, struct thread *t)
{
	__u64 id;

	if (!call_enter(ctx, t, &id))
		return false;
@bytes|	bytes_enter(&t->call, id, &t->call.data.bytes);
	return true;
}

static __always_inline void leave(struct pt_regs *ctx, struct thread *t)
{
	__u64 ns = bpf_ktime_get_ns() - t->call.start;
	struct aggregate_key key = aggregate_key(t->call.id);
	bool failed = call_result(ctx, &t->call);

	t->call.sp = 0;
@bytes|	aggregate_timed(ctx, t, &t->data.record, &key, &(struct aggregated_time){
@bytes|		ns, bytes_leave(&t->call.data.bytes, failed), 0, failed });
@!bytes|	aggregate_timed(ctx, t, &t->data.record, &key, &(struct aggregated_time){ ns, 0, 0, failed });
}

CUDA_PROGRAMS(enter, leave)
