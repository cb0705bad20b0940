// SPDX-License-Identifier: GPL-2.0
/* for ten thousand threads that start together */
#define RECORDS_BYTES (8 * 1024 * 1024)
#include "lib/memory.bpf.h"

struct inflight_call;
static __always_inline bool memory_inflight(const struct task_struct *task, const struct thread *t,
					   struct inflight_call *to);
#define INFLIGHT_TAKE memory_inflight
#include "lib/inflight.bpf.h"

/* As memory_device(). */
static __always_inline __u32 memory_inflight_device(const struct task_struct *task, const struct thread *t)
{
	__u64 id = t->call.id, pool;
	const struct cuda_args *row;
	__u32 known;

	if (id >= CUDA_ID_MAX)
		return 0;
	row = &cuda_rows[bounded(id, CUDA_ID_MAX - 1)];
	if (row->nowhere)
		return DEVICE_NONE;
	if (row->anywhere)
		return 0;
	if (row->location)
		return device_of_location(t->call.data.arg2);
	if (row->dev)
		return device_number(t->call.data.arg2);
	if (!row->pool)
		return inflight_in(task, &t->device, inflight_stream(&t->call));
	pool = t->call.args[bounded(row->pool, CALL_REGISTERS)];
	known = inflight_handle(task, pool);
	if (known > DEVICES)
		return known == HANDLE_HOST ? DEVICE_NONE : 0;
	return known ?: inflight_in(task, &t->device, pool);
}

static __always_inline bool memory_inflight(const struct task_struct *task, const struct thread *t,
					   struct inflight_call *to)
{
	to->device = memory_inflight_device(task, t);
	to->memory = t->call.data.ptr;
	return inflight_outermost(t, to);
}
