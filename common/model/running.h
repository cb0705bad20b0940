/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The calls in flight: a program that hangs is in one.  The probes have seen those that were entered
 * since tracing began; of older ones the threads' stacks tell. */
#ifndef RUNNING_H
#define RUNNING_H
#include <stdbool.h>
#include <stddef.h>
#include "base/hash.h"
#include "base/quota.h"

struct bpf_link;
struct probes;
struct stack;
struct syms;

struct running_row {
	unsigned long long time;	/* of the report: CLOCK_MONOTONIC, ns */
	unsigned long long age;		/* ns since the entry or, if that was not seen, since tracing began */
	int pid, tid;
	char name[16];
	const char *comm, *func;	/* comm is name */
	bool complete;			/* the entry was seen */
	bool running;			/* true, for JSON */
	const struct stack *stack;	/* from the call's caller on; valid until running_free() */
	unsigned user;			/* private */
};

/* A thread that has entered no call since tracing began, in a process that used CUDA before. */
struct running_thread {
	int pid, tid, id;		/* id: of the function that it is in, -1: not known */
	unsigned long long sp, pc, switches;	/* when its stack was looked at: unchanged, so is the stack */
	unsigned round;			/* when it was seen */
	unsigned user;
	const struct stack *stack;
	UT_hash_handle hh;
};

struct running {
	/* Set first; the caller owns it. */
	const struct bpf_link *link;	/* of running_calls, in bpf/lib/running.bpf.h … */
	volatile bool *all;		/* … and its running_all */
	const struct probes *probes;
	bool (*is_early)(void *ctx, int pid);	/* did the process use CUDA before tracing began? */
	void *ctx;
	bool stacks, lines;		/* wanted in the rows; with source lines */
	/* the result */
	struct running_row *rows;
	size_t n;
	/* private; zeroed */
	unsigned long long since, now, copies;
	unsigned long long until;	/* when the last stack of this round may be read, ns */
	struct syms *syms;
	struct running_thread *threads;	/* by tid */
	unsigned round;
	bool begun;
	struct quota quota;		/* threads and rows */
};

/* For a tool's skeleton and its struct target (session/target.h). */
#define RUNNING_OF(skel, target, with_stacks) {							\
	.link = (skel)->links.running_calls, .all = &(skel)->bss->running_all,			\
	.probes = &(target)->probes, .is_early = target_is_early, .ctx = (target),		\
	.stacks = (with_stacks), .lines = (target)->lines }

/* Call when the probes are in: finds the calls that were entered before. */
void running_start(struct running *r);

/* Sets the rows, longest calls first. */
void running_collect(struct running *r);

/* Forgets the rows. */
void running_clear(struct running *r);

/* Frees everything; before the target's looks. */
void running_free(struct running *r);

#endif
