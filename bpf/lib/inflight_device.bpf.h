/* SPDX-License-Identifier: GPL-2.0 */
/* The device of a call in flight, of another thread than the one that reads it: what lib/device.bpf.h says of
 * its own thread, without a change to what is kept of that one. */
#ifndef INFLIGHT_DEVICE_BPF_H
#define INFLIGHT_DEVICE_BPF_H
#include "lib/cuda.bpf.h"

static __always_inline struct device_handles *inflight_handles(const struct task_struct *task)
{
	return bpf_task_storage_get(&device_handles, task->group_leader, NULL, 0);
}

/* As device_here(). */
static __always_inline __u32 inflight_here(const struct task_struct *task, const struct device_thread *d,
					  const struct device_handles *h)
{
	if (!d->device && !d->place && (task->start_time >= device_state.since || !handles_may_lack(task, h)))
		return 1;
	return d->device;
}

/* The device of a context or stream of the thread's process. */
static __always_inline __u32 inflight_handle(const struct task_struct *task, __u64 handle)
{
	return handle_find(inflight_handles(task), handle) & (HANDLE_PRIMARY - 1);
}

/* As device_in(); 0 if the tool does not follow devices. */
static __always_inline __u32 inflight_in(const struct task_struct *task, const struct device_thread *d,
					__u64 stream)
{
	struct device_handles *h = inflight_handles(task);
	__u32 here = inflight_here(task, d, h);

	if (device_state.since == ~0ull)
		return 0;
	if (stream <= STREAMS_DEFAULT)
		return here;
	if (!handles_may_lack(task, h) && !(h && h->devices & ~device_bit(here)))
		return here;
	return handle_find(h, stream) & (HANDLE_PRIMARY - 1);
}

/* The argument that is the call's stream or context.  ~0, which is no handle: it is on the thread's stack,
 * which cannot be read from here. */
static __always_inline __u64 inflight_stream(const struct call *call)
{
	__u64 id = call->id;
	unsigned char pos;

	if (id >= CUDA_ID_MAX)
		return 0;
	id = bounded(id, CUDA_ID_MAX - 1);
	pos = cuda_rows[id].stream ?: cuda_rows[id].ctx;
	return pos <= 6 ? call->args[bounded(pos, 6)] : ~0ull;
}

#endif
