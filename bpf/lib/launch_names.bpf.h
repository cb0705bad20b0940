/* SPDX-License-Identifier: GPL-2.0 */
/* The names of kernels: records of the functions that name kernels, whose returns are wanted. */
#ifndef LAUNCH_NAMES_BPF_H
#define LAUNCH_NAMES_BPF_H
#include "lib/call.bpf.h"
#include "lib/records.bpf.h"
#include "abi/cudalaunchtop.h"

/* Kept from such a call's entry to its return: where it stores its result, and its arguments. */
struct name_call {
	__u64 out, subject, name;
};

static __always_inline void send(__u32 pid, __u64 program, __u32 what, __u64 subject, __u64 object)
{
	struct launch_event e = {
		.head = { .pid = pid, .kind = what }, .key = { .program = program, .pid = pid },
		.subject = subject, .object = object,
	};

	thread_comm(e.comm);
	records_send(&e, sizeof(e), true);
}

/* The string's memory may not be paged in: then the reader has to try.  Otherwise the reader need
 * not hurry: a program names thousands of kernels when it starts. */
static __always_inline bool send_name(__u32 pid, __u64 program, __u64 subject, __u64 at,
				      const __u32 room)
{
	struct { struct launch_event event; char name[]; } *e;
	long n;

	e = records_refused(sizeof(*e) + room) ? NULL :
	    bpf_ringbuf_reserve(&events, sizeof(*e) + room, 0);
	if (!e) {
		lose(LOST_RECORD);
		return true;
	}
	__builtin_memset(&e->event, 0, sizeof(e->event));
	n = bpf_probe_read_user_str(e->name, room, (void *)at);
	if (n == room && room < LAUNCH_LONG_NAME) {
		bpf_ringbuf_discard(e, BPF_RB_NO_WAKEUP);
		return false;
	}
	if (n <= 0)
		e->name[0] = 0;
	e->event.head.pid = e->event.key.pid = pid;
	e->event.head.kind = LAUNCH_NAMED;
	e->event.key.program = program;
	e->event.subject = subject;
	e->event.object = at;
	bpf_get_current_comm(e->event.comm, sizeof(e->event.comm));
	bpf_ringbuf_submit(e, records_wakeup(sizeof(*e) + room, n <= 0));
	return true;
}

/* At the entry of __cudaRegisterFunction(), which needs no return. */
static __always_inline void name_registered(const struct call *call, const struct cuda_args *row,
					    __u32 pid, __u64 program)
{
	__u64 stub = cuda_arg(call, row->stub), name = cuda_arg(call, row->name);

	if (!send_name(pid, program, stub, name, LAUNCH_NAME))
		send_name(pid, program, stub, name, LAUNCH_LONG_NAME);
}

/* At the entry of any other: return true if the return is wanted. */
static __always_inline bool name_enter(const struct call *call, const struct cuda_args *row,
				       struct name_call *c)
{
	if (row->module == 1 || row->library == 1)
		return false;
	c->out = cuda_arg(call, 1);
	c->name = row->name == 1 ? 0 : cuda_arg(call, row->name);
	c->subject = cuda_arg(call, row->stub ?: row->func > 1 ? row->func :
			      row->handle > 1 ? row->handle : 0);
	return true;
}

/* At its return; out is what it stored. */
static __always_inline void name_leave(const struct name_call *c, __u64 id, __u64 out, __u32 pid,
				       __u64 program)
{
	__u64 name = c->name;

	if (!name && cuda_rows[id].name != 1) {
		send(pid, program, LAUNCH_ALIAS, out, c->subject);
		return;
	}
	if (!name) {		/* …GetName() stores the name of what it was given */
		name = out;
		out = c->subject;
	}
	if (!send_name(pid, program, out, name, LAUNCH_NAME))
		send_name(pid, program, out, name, LAUNCH_LONG_NAME);
}

#endif
