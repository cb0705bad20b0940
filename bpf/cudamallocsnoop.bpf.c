// SPDX-License-Identifier: GPL-2.0
/* for ten thousand threads that start together */
#define RECORDS_BYTES (8 * 1024 * 1024)
#include "lib/memory.bpf.h"

struct inflight_call;
static __always_inline bool memory_inflight(const struct task_struct *task, const struct thread *t,
					   struct inflight_call *to);
#define INFLIGHT_TAKE memory_inflight
#include "lib/inflight.bpf.h"

static __always_inline bool memory_inflight(const struct task_struct *task, const struct thread *t,
					   struct inflight_call *to)
{
	to->device = inflight_in(task, &t->device, inflight_stream(&t->call));
	to->memory = t->call.data.ptr;
	return inflight_outermost(t, to);
}
