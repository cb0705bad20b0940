/* SPDX-License-Identifier: GPL-2.0 */
/* The programs that launch, and what their kernels are called: records of the functions that name
 * kernels, whose returns are wanted.  To be included after cuda.bpf.h. */
#ifndef LAUNCH_NAMES_BPF_H
#define LAUNCH_NAMES_BPF_H
/* a program names thousands of kernels at once when it starts */
#define RECORDS_BYTES (8 * 1024 * 1024)
#include "lib/records.bpf.h"

/* Process id to program. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u64);
} programs SEC(".maps");

static __always_inline void send(__u32 pid, __u64 program, __u32 what, __u64 subject, __u64 object)
{
	struct launch_event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e) {
		lose(LOST_RECORD);
		return;
	}
	__builtin_memset(e, 0, sizeof(*e));
	e->key.pid = pid;
	e->key.program = program;
	e->what = what;
	e->subject = subject;
	e->object = object;
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	bpf_ringbuf_submit(e, records_wakeup(true));
}

/* Its string is in memory that may not be paged in: then the reader is to try.  The reader
 * need not hurry otherwise: a program names thousands of kernels when it starts. */
static __always_inline bool send_name(__u32 pid, __u64 program, __u64 subject, __u64 at,
				      const __u32 room)
{
	struct { struct launch_event head; char name[]; } *e;
	long n;

	e = bpf_ringbuf_reserve(&events, sizeof(struct launch_event) + room, 0);
	if (!e) {
		lose(LOST_RECORD);
		return true;
	}
	__builtin_memset(&e->head, 0, sizeof(e->head));
	n = bpf_probe_read_user_str(e->name, room, (void *)at);
	if (n == room && room < LAUNCH_LONG_NAME) {
		bpf_ringbuf_discard(e, BPF_RB_NO_WAKEUP);
		return false;
	}
	if (n <= 0)
		e->name[0] = 0;
	e->head.key.pid = pid;
	e->head.key.program = program;
	e->head.what = LAUNCH_NAMED;
	e->head.subject = subject;
	e->head.object = at;
	bpf_get_current_comm(e->head.comm, sizeof(e->head.comm));
	bpf_ringbuf_submit(e, records_wakeup(n <= 0));
	return true;
}

static __always_inline __u64 program_of(struct thread *t, __u32 pid)
{
	__u64 now, *known;

	if (t->data.program)
		return t->data.program;
	known = bpf_map_lookup_elem(&programs, &pid);
	if (!known) {
		now = bpf_ktime_get_ns();
		if (bpf_map_update_elem(&programs, &pid, &now, BPF_NOEXIST))
			known = bpf_map_lookup_elem(&programs, &pid);	/* another thread was first */
		else
			known = &now;
		if (!known) {
			lose(LOST_PROCESS);
			known = &now;
		}
	}
	t->data.program = *known;
	t->data.pid = pid;
	return t->data.program;
}

/* Remembers a call whose return is wanted; NULL if there is no room. */
static __always_inline struct frame *push(struct thread *t, __u64 sp, __u32 id)
{
	struct frame *free = NULL;

	for (int i = 0; i < 4; i++) {
		struct frame *f = &t->data.frames[i];

		if (f->sp && f->sp <= sp) {	/* it was left by longjmp or an exception */
			f->sp = 0;
			lose(LOST_RETURN);
		}
		if (!f->sp)
			free = f;
	}
	if (!free) {
		lose(LOST_RETURN);
		return NULL;
	}
	free->sp = sp;
	free->id = id;
	return free;
}

static __always_inline struct frame *returning(struct pt_regs *ctx, struct thread *t)
{
	for (int i = 0; t && i < 4; i++) {
		struct frame *f = &t->data.frames[i];

		/* the return has popped the return address */
		if (f->sp && f->sp + 8 == PT_REGS_SP(ctx))
			return f;
	}
	return NULL;
}

static __always_inline bool name_enter(struct thread *t, const struct cuda_args *row, __u32 id)
{
	__u32 pid = thread_pid();
	__u64 stub = cuda_arg(&t->call, row->stub), name = cuda_arg(&t->call, row->name);
	struct frame *f;

	if (!row->out) {	/* __cudaRegisterFunction */
		if (!send_name(pid, program_of(t, pid), stub, name, LAUNCH_NAME))
			send_name(pid, program_of(t, pid), stub, name, LAUNCH_LONG_NAME);
		return false;
	}
	if (row->module == 1 || row->library == 1)
		return false;
	f = push(t, t->call.sp, id);
	if (!f)
		return false;
	f->out = cuda_arg(&t->call, 1);
	f->name = row->name == 1 ? 0 : name;
	f->subject = row->stub ? stub : cuda_arg(&t->call, row->func > 1 ? row->func :
						 row->handle > 1 ? row->handle : 0);
	return true;
}

static __always_inline void name_leave(struct thread *t, struct frame *f)
{
	__u64 id = f->id, out = read_u64(f->out), name = f->name;
	__u32 pid = thread_pid();

	barrier_var(id);
	if (id >= CUDA_ID_MAX || !out)
		return;
	if (!name && cuda_rows[id].name != 1) {
		send(pid, program_of(t, pid), LAUNCH_ALIAS, out, f->subject);
		return;
	}
	if (!name) {		/* …GetName(): stores the name of what it was given */
		name = out;
		out = f->subject;
	}
	if (!send_name(pid, program_of(t, pid), out, name, LAUNCH_NAME))
		send_name(pid, program_of(t, pid), out, name, LAUNCH_LONG_NAME);
}

#endif
