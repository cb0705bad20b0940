/* SPDX-License-Identifier: GPL-2.0 */
/* A call that allocates or frees memory: its arguments, and its record.  The tool's struct call_data has ptr,
 * arg2 and bytes. */
#ifndef LIB_MEMORY_CALL_BPF_H
#define LIB_MEMORY_CALL_BPF_H
#ifndef CALL_DATA
#error "define CALL_DATA before this"
#endif
#include "lib/bytes.bpf.h"
#include "lib/call_device.bpf.h"
#include "lib/cuda.bpf.h"
#include "abi/memory_event.h"

/* In arg2: the primary context of the device is released, but stays. */
enum { CONTEXT_STAYS = -1 };

/* Return true if the function releases a reference to a primary context. */
static __always_inline bool releases_context(const struct cuda_args *row)
{
	return row->counted && row->dev && !row->out;
}

/* Return true if the call has released a reference to a primary context that was not the last: nothing is freed. */
static __always_inline bool context_stays(const struct call *call, const struct cuda_args *row)
{
	return releases_context(row) && call->data.arg2 == (__u64)CONTEXT_STAYS;
}

/* ipc_hash_of() the handle at this address; 0: it cannot be read. */
GLOBAL_SUBPROG __u64 ipc_hash(__u64 at)
{
	unsigned long long words[IPC_WORDS];

	return bpf_probe_read_user(words, sizeof(words), (void *)at) ? 0 : ipc_hash_of(words);
}

static __always_inline void memory_arguments(struct call *call, const struct cuda_args *row)
{
	struct call_data *d = &call->data;

	d->ptr = cuda_arg(call, row->ptr ?: row->handle ?: row->ctx ?: row->limit);
	d->arg2 = row->location ? location_arg(call, row) : cuda_arg(call, row->ptr ? row->handle : row->dev);
	if (row->ipc)
		d->arg2 = row->out ? ipc_hash(struct_arg_at(call, row->ipc)) : cuda_arg(call, row->ipc);
	if (releases_context(row) && !handles_last(device_number(d->arg2)))
		d->arg2 = CONTEXT_STAYS;
	d->bytes = (struct bytes){};
	bytes_of_memory(call, row, &d->bytes);
}

/* Sets ptr and size; ret is set. */
static __always_inline void memory_address(const struct call *call, const struct cuda_args *row,
					   struct memory_event *e)
{
	const struct call_data *d = &call->data;

	e->ptr = !row->out ? d->ptr : e->ret ? 0 : read_u64(d->ptr);
	e->size = bytes_leave(&d->bytes, e->ret);
}

/* The device of the memory. */
static __always_inline __u32 memory_device(struct thread *t, const struct cuda_args *row)
{
	return device_of_args(&t->device, &t->call, row, t->call.data.arg2);
}

/* Sets the rest, except the stack. */
static __always_inline void memory_place(struct thread *t, __u64 id, const struct cuda_args *row,
					 struct memory_event *e)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	const struct call_data *d = &t->call.data;

	e->time = bpf_ktime_get_ns();
	e->start = t->call.start;
	e->arg2 = row->ipc && !row->out ? ipc_hash(d->arg2) :
		  cuda_classes[id] != CUDA_RESET ? d->arg2 : row->ctx ? d->ptr :
		   row->dev ? PLACE_DEVICE | (__u32)d->arg2 : t->device.place;
	e->location = t->device.place;
	e->stream = cuda_arg(&t->call, row->stream);
	e->device = memory_device(t, row);
	e->captured = 0;
	e->head.pid = task->tgid;
	e->head.kind = id;
	e->head.frames = 0;
	e->tid = task->pid;
	thread_comm(e->comm);
}

#endif
