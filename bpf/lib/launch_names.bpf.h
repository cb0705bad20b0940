/* SPDX-License-Identifier: GPL-2.0 */
/* The names of kernels: records of the functions that name kernels, whose returns are probed. */
#ifndef LIB_LAUNCH_NAMES_BPF_H
#define LIB_LAUNCH_NAMES_BPF_H
#include "lib/call.bpf.h"
#include "lib/records.bpf.h"
#include "abi/launch.h"

/* Programs unload kernels and load others at their addresses: a call that names a kernel at an address begins a new
 * generation of launches there.  It returns before the kernel can be launched, so each launch counts in its own
 * generation, whenever the tool reads the record of the call.
 *
 * To look up the generation at each launch would cost half as much as to count it.  So addresses share generations by
 * hash: a new one for one address is a new one for a few others, which only makes another count of their kernels. */

enum { GENERATION_BITS = 16 };

static struct generation {
	__u32 n;
	__u32 named;		/* a hash of the last naming, or 0: the same again changes nothing */
} generations[1 << GENERATION_BITS];

static __always_inline __u64 generation_hash(__u64 a, __u64 b)
{
	a = (a ^ b) * 0x9e3779b97f4a7c15;
	return a ^ a >> 32;
}

/* Neighbours in memory, such as the stubs of one source file, are neighbours here: they share cache lines. */
static __always_inline struct generation *generation_of(__u64 program, __u64 func)
{
	__u64 at = (program * 0x9e3779b97f4a7c15 >> (64 - GENERATION_BITS)) + (func >> 4) + (func >> (4 + GENERATION_BITS));

	barrier_var(at);	/* the verifier must see that the value used is the one masked */
	return &generations[at & ((1 << GENERATION_BITS) - 1)];
}

/* Call where func is named, before it can be launched.  meaning is a hash of the name; 0:
 * unknown.  Returns its generation from now on. */
static __always_inline __u32 generation_named(__u64 program, __u64 func, __u64 meaning)
{
	struct generation *g = generation_of(program, func);
	__u32 named = generation_hash(generation_hash(func, program), meaning);

	named = meaning ? named ?: 1 : 0;
	if (!named || g->named != named)
		__sync_fetch_and_add(&g->n, 1);
	g->named = named;
	return g->n;
}

/* Such a call from its entry to its return: where it stores its result, and its arguments.  out = 0: it unloads owner. */
struct name_call {
	__u64 out, subject, name, owner;
	__u64 time;		/* of its entry, if it unloads */
};

static __always_inline void send_event(struct launch_event *e, __u32 pid, __u64 program, __u32 what,
				       bool now)
{
	e->head.pid = e->key.pid = pid;
	e->head.kind = what;
	e->key.program = program;
	thread_comm(e->comm);
	records_send(e, sizeof(*e), now);
}

/* Such a record does not fit the caller's stack. */
GLOBAL_SUBPROG int send_pair(__u32 pid, __u64 program, __u64 subject, __u64 object)
{
	struct launch_event e = { .subject = subject, .object = object };

	send_event(&e, pid, program, LAUNCH_PAIR, true);
	return 0;
}

/* A name and parts of one, which are aligned. */
struct name_part { __u64 words[LAUNCH_NAME / 8]; };
struct name_parts { struct name_part parts[LAUNCH_LONG_NAME / LAUNCH_NAME]; };

/* The hash with the first n bytes of a part.  A function of its own: the verifier follows each turn of a loop. */
GLOBAL_SUBPROG __u64 name_part_hash(const struct name_part *part, __u64 hash, __u64 n)
{
	if (!part)
		return 0;
	for (__u32 i = 0; i < LAUNCH_NAME / 8; i++) {
		if (8 * i + 8 > n) {
			if (8 * i < n)
				hash = generation_hash(hash, part->words[i] & ~0ull >> (8 * (8 - (n & 7))));
			break;
		}
		hash = generation_hash(hash, part->words[i]);
	}
	return hash;
}

/* The same of a long name. */
GLOBAL_SUBPROG __u64 name_parts_hash(const struct name_parts *name, __u64 n)
{
	__u64 hash = n;

	if (!name)
		return 0;
	for (__u32 i = 0; i < LAUNCH_LONG_NAME / LAUNCH_NAME; i++) {
		if (i * LAUNCH_NAME >= n)
			break;
		hash = name_part_hash(&name->parts[i], hash, n - i * LAUNCH_NAME);
	}
	return hash;
}

/* A hash of the first n bytes of room; not 0. */
static __always_inline __u64 name_hash(const void *name, __u64 n, const __u32 room)
{
	return (room == LAUNCH_NAME ? name_part_hash(name, n, n) : name_parts_hash(name, n)) ?: 1;
}

/* A name to be sent. */
struct name_sent {
	__u64 program, subject, at, owner;
	bool asked;		/* the call returns the name of its argument, and creates nothing */
};

GLOBAL_SUBPROG __u32 name_generation(const struct name_sent *s, __u64 meaning)
{
	if (!s)
		return 0;
	return s->asked ? generation_of(s->program, s->subject)->n :
	       generation_named(s->program, s->subject, meaning);
}

/* The string's memory may not be paged in: then the reader is woken to read it.  A program names thousands of kernels when it
 * starts. */
static __always_inline bool send_name(__u32 pid, const struct name_sent *s, const __u32 room)
{
	struct { struct launch_event event; char name[]; } *e;
	long n;

	e = records_refused(sizeof(*e) + room) ? NULL :
	    bpf_ringbuf_reserve(&events, sizeof(*e) + room, 0);
	if (!e) {
		name_generation(s, 0);
		lose(LOST_RECORD);
		return true;
	}
	__builtin_memset(&e->event, 0, sizeof(e->event));
	n = bpf_probe_read_user_str(e->name, room, (void *)s->at);
	if (n == room && room < LAUNCH_LONG_NAME) {
		bpf_ringbuf_discard(e, BPF_RB_NO_WAKEUP);
		return false;
	}
	if (n <= 0)
		e->name[0] = 0;
	e->event.head.pid = e->event.key.pid = pid;
	e->event.head.kind = s->asked ? LAUNCH_TOLD : LAUNCH_NAMED;
	e->event.key.program = s->program;
	e->event.key.generation = name_generation(s, n > 0 ? name_hash(e->name, n, room) : 0);
	e->event.subject = s->subject;
	e->event.object = s->at;
	e->event.owner = s->owner;
	e->event.time = bpf_ktime_get_ns();
	bpf_get_current_comm(e->event.comm, sizeof(e->event.comm));
	bpf_ringbuf_submit(e, records_wakeup(sizeof(*e) + room, n <= 0));
	return true;
}

GLOBAL_SUBPROG int send_any_name(const struct name_sent *s, __u32 pid)
{
	if (!s)
		return 0;
	if (!send_name(pid, s, LAUNCH_NAME))
		send_name(pid, s, LAUNCH_LONG_NAME);
	return 0;
}

/* Without the name, which the program keeps as long as the kernel. */
GLOBAL_SUBPROG int send_registered(const struct name_sent *s, __u32 pid)
{
	struct launch_event e = {};

	if (!s)
		return 0;
	e.subject = s->subject;
	e.object = s->at;
	e.owner = s->owner;
	e.key.generation = name_generation(s, generation_hash(s->at, s->owner) ?: 1);
	e.time = bpf_ktime_get_ns();
	send_event(&e, pid, s->program, LAUNCH_REGISTERED, false);
	return 0;
}

/* At the entry of __cudaRegisterFunction(), which needs no return.  n: how many there were before. */
static __always_inline void name_registered(const struct call *call, const struct cuda_args *row,
					    __u32 pid, __u64 program, __u32 n)
{
	struct name_sent s = {
		.program = program, .subject = cuda_arg(call, row->stub), .at = cuda_arg(call, row->name),
		.owner = cuda_arg(call, row->module),
	};

	if (n < LAUNCH_REGISTRATIONS)
		send_any_name(&s, pid);
	else
		send_registered(&s, pid);
}

/* At the entry of any other: return true if the return is wanted. */
static __always_inline bool name_enter(const struct call *call, const struct cuda_args *row,
				       struct name_call *c)
{
	__builtin_memset(c, 0, sizeof(*c));
	if (!row->out) {
		c->owner = cuda_arg(call, row->module ?: row->library);
		c->time = bpf_ktime_get_ns();
		return true;
	}
	if (row->library == 1)
		return false;
	c->out = cuda_arg(call, 1);
	c->name = row->name == 1 ? 0 : cuda_arg(call, row->name);
	c->owner = cuda_arg(call, row->module > 1 ? row->module : row->library);
	c->subject = cuda_arg(call, row->stub ?: row->func > 1 ? row->func :
			      row->handle > 1 ? row->handle : row->module == 1 ? row->library : 0);
	return true;
}

GLOBAL_SUBPROG int name_unloaded(__u64 owner, __u64 time, __u32 pid, __u64 program)
{
	struct launch_event e = { .subject = owner, .time = time };

	send_event(&e, pid, program, LAUNCH_UNLOADED, false);
	return 0;
}

/* out is the same as subject from now on: a function of a kernel, a handle of a stub. */
GLOBAL_SUBPROG int name_aliased(const struct name_call *c, __u64 out, __u32 pid, __u64 program)
{
	struct launch_event e = { .subject = out };
	__u64 meaning;

	if (!c)
		return 0;
	e.object = c->subject;
	e.owner = c->owner;
	meaning = generation_hash(c->subject, generation_of(program, c->subject)->n);
	e.key.generation = generation_named(program, out, meaning ?: 1);
	e.time = bpf_ktime_get_ns();
	send_event(&e, pid, program, LAUNCH_ALIAS, true);
	return 0;
}

/* out is what it stored. */
static __always_inline void name_stored(const struct name_call *c, __u64 id, __u64 out, __u32 pid,
				       __u64 program)
{
	struct name_sent s = { .program = program, .subject = out, .at = c->name, .owner = c->owner };

	if (!c->name && cuda_rows[id].name != 1) {
		name_aliased(c, out, pid, program);
		return;
	}
	if (!c->name) {		/* …GetName() stores the name of its argument */
		s.at = out;
		s.subject = c->subject;
		s.asked = true;
	}
	send_any_name(&s, pid);
}

/* At its return. */
static __always_inline void name_leave(const struct name_call *c, __u64 id, int ret, __u32 pid, __u64 program)
{
	__u64 out = ret || !c->out ? 0 : read_u64(c->out);

	if (out)
		name_stored(c, id, out, pid, program);
	else if (!c->out && (!ret || id == CUDA_ID___cudaUnregisterFatBinary))
		name_unloaded(c->owner, c->time, pid, program);
}

#endif
