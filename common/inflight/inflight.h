/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The calls in flight: a program that hangs is in one.  The probes have seen those that were entered
 * since tracing began; older ones are found on the threads' stacks. */
#ifndef INFLIGHT_INFLIGHT_H
#define INFLIGHT_INFLIGHT_H
#include <stdbool.h>
#include <stddef.h>
#include "abi/inflight_call.h"
#include "base/hash.h"
#include "base/quota.h"
#include "proc/cgroup.h"

struct bpf_link;
struct devices_seen;
struct inflight_call;
struct memory;
struct probes;
struct process_table;
struct stack;
struct stack_losses;
struct syms;

/* For a tool's skeleton and its struct session (session/session.h). */
#define INFLIGHT_OF(skel, target, with_stacks) {							\
	.link = (skel)->links.inflight_calls, .all = &(skel)->bss->inflight_all,			\
	.of = &(skel)->bss->inflight_of,								\
	.probes = &(target)->probes, .processes = &(target)->processes,				\
	.stacks = (with_stacks), .frames = session_stack_config(target), .lines = (target)->lines,	\
	.losses = &(target)->stack_losses, .alone = session_is_alone(target),				\
	.only = (target)->devices }

/* The last operation of NCCL before a call that waits.  func is NULL: none is known. */
struct inflight_op {
	const char *func, *type;	/* type: of its values; NULL: unknown, or it has none */
	unsigned long long count;	/* these five: OUT_NONE, if they are not known */
	unsigned long long hash;	/* of the communicator */
	unsigned long long rank, nranks;
	unsigned long long age;		/* ns since its call */
};

struct inflight_row {
	unsigned long long time;	/* of the report: CLOCK_MONOTONIC, ns */
	unsigned long long age;		/* ns since the entry or, if that was not seen, since tracing began */
	int pid, tid;
	char name[16];
	const char *comm, *func;	/* comm is name */
	bool complete;			/* the entry was seen */
	bool inflight;			/* true, for JSON */
	unsigned int device;		/* see abi/device.h */
	const char *container;		/* NULL: none */
	struct inflight_nccl nccl;	/* of a call of NCCL whose entry was seen */
	struct nccl_last behind;	/* as in struct inflight_call; for the tool, which sets op */
	struct inflight_op op;
	bool shown;			/* set by the tool: printed elsewhere, and in text not once more */
	const struct stack *stack;	/* from the call's caller on; valid until inflight_free() */
	unsigned user;			/* private, as is what follows */
	unsigned long long start;	/* of the call, or of tracing: CLOCK_MONOTONIC, ns */
	char container_id[CONTAINER_ID];
};

/* A thread that has entered no call since tracing began, in a process that used CUDA before. */
struct inflight_thread {
	int pid, tid, id;		/* id: of the function that it is in, -1: not known */
	unsigned long long sp, pc, switches;	/* when its stack was looked at: unchanged, so is the stack */
	unsigned round;			/* when it was seen */
	bool unread;			/* there was no time to look at it then */
	unsigned user;
	const struct stack *stack;
	UT_hash_handle hh;
};

/* A call in flight that r->losses has. */
struct inflight_loss {
	int tid;
	unsigned long long start;
	unsigned round;			/* when it was seen */
	UT_hash_handle hh;
};

struct inflight {
	/* Set first; the caller owns it. */
	const struct bpf_link *link;	/* of inflight_calls, in bpf/lib/inflight.bpf.h … */
	volatile bool *all;		/* … and its inflight_all */
	volatile int *of;		/* … and inflight_of */
	const struct probes *probes;
	struct process_table *processes;
	bool stacks, lines;		/* wanted in the rows; with source lines */
	struct stack_config frames;	/* that they have: native, python */
	struct stack_losses *losses;	/* count a call whose stack is incomplete once, however many reports have it */
	bool alone;			/* no other user is traced: session_is_alone() */
	unsigned long long only;	/* bit n: calls on device n; 0: on every device */
	unsigned long long report_ns;	/* how long stacks are read for a report; 0: half a second */
	/* Set then, or NULL. */
	bool ops;			/* the rows have op: for inflight_view() */
	const struct memory *memory;	/* a call that frees memory is on the device of the memory */
	struct devices_seen *devices;	/* those that the text distinguishes: for inflight_view() */
	/* the result */
	struct inflight_row *rows;
	size_t n;
	/* private; zeroed */
	struct inflight_row *held;	/* of when the command got a signal: a process that it has killed is in its last call */
	size_t nheld;
	bool killed;
	unsigned long long since, now, copies;
	unsigned long long until;	/* when the last stack of this round may be read, ns */
	struct syms *syms;
	struct inflight_thread *threads;	/* by tid */
	struct inflight_loss *incomplete;	/* the same */
	unsigned round;
	int mapped;			/* the process whose mappings were read last in this round */
	bool begun;
	size_t unknown, told;		/* calls left out of the last round as their device is not known; the
					 * most that there was a warning of */
	int forbidden;			/* a process whose memory the kernel does not let the tool read, or 0 */
	bool told_forbidden;
	struct quota quota;		/* threads and rows */
};

/* Call when the probes are in: finds the calls that were entered before. */
void inflight_start(struct inflight *r);

/* Sets the rows, longest calls first; once a signal has killed the command, those of its processes then, too.  Warns if calls are left out, as their device is not known and only some
 * are wanted. */
void inflight_collect(struct inflight *r);

/* Calls fn for a thread of a process with the reason why it has no stack; then, if they exist, for
 * it and the first thread with their stacks, whether they are in a call or not.  Only pid, tid, name
 * and stack of the row are set, and they are valid until fn returns, the stack until
 * inflight_free(). */
void inflight_threads(struct inflight *r, int pid, int tid, void (*fn)(void *ctx, const struct inflight_row *thread), void *ctx);

/* Return true if there was no time for all threads of the process in the last round: it may be in a call without a row. */
bool inflight_is_unread(const struct inflight *r, int pid);

/* Forgets the rows. */
void inflight_clear(struct inflight *r);

/* Frees everything; before the session's helpers. */
void inflight_free(struct inflight *r);

#endif
