/* SPDX-License-Identifier: GPL-2.0 */
/* A call that allocates or frees memory: its arguments, and its record.  The tool's struct call_data has ptr,
 * arg2 and bytes. */
#ifndef MEMORY_CALL_BPF_H
#define MEMORY_CALL_BPF_H
#ifndef CALL_DATA
#error "define CALL_DATA before this"
#endif
#include "lib/bytes.bpf.h"
#include "lib/cuda.bpf.h"
#include "abi/memory_event.h"

static __always_inline void memory_arguments(struct call *call, const struct cuda_args *row)
{
	struct call_data *d = &call->data;

	d->ptr = cuda_arg(call, row->ptr ?: row->handle ?: row->ctx ?: row->limit);
	d->arg2 = cuda_arg(call, row->ptr ? row->handle : row->dev);
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

/* Sets the rest, except the stack. */
static __always_inline void memory_place(struct thread *t, __u64 id, const struct cuda_args *row,
					 struct memory_event *e)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	const struct call_data *d = &t->call.data;

	e->time = bpf_ktime_get_ns();
	e->start = t->call.start;
	e->arg2 = cuda_classes[id] != CUDA_RESET ? d->arg2 : row->ctx ? d->ptr :
		   row->dev ? PLACE_DEVICE | (__u32)d->arg2 : t->device.place;
	e->location = t->device.place;
	e->stream = cuda_arg(&t->call, row->stream);
	e->device = device_in(&t->device, e->stream);
	e->captured = 0;
	e->head.pid = task->tgid;
	e->head.kind = id;
	e->head.frames = 0;
	e->tid = task->pid;
	thread_comm(e->comm);
}

#endif
