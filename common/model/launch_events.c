/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "model/launch_find.h"
#include "model/launch_retire.h"
#include "model/launches.h"
#include "sym/syms.h"

/* How many counters a program may have renamed for each of its records. */
enum { RECORD_STEPS = 64 };

/* The address now belongs to another kernel: what was launched so far at other addresses that lead to
 * this one keeps its name.  A program that often renames one of many kernels must have sent as many
 * records as this takes steps. */
static void rename_others(struct launches *l, struct launch_program *p, unsigned long long addr,
			  const struct kernel *old)
{
	struct counter *c;

	if (p->steps < p->ncounters)
		return;
	p->steps -= p->ncounters;
	LIST_FOREACH(c, &p->counters, in_program) {
		if (c->fixed || c->key.func == addr || counter_kernel(c) != old)
			continue;
		counter_pull(&l->counters, c);
		if (c->total.launches)
			counter_split(&l->counters, c, old);
	}
}

/* The address now stands for this kernel, in launches of this generation: those before keep theirs. */
static void rename_address(struct launches *l, struct launch_program *p, const struct launch_event *e,
			   const struct kernel *kernel)
{
	const struct kernel *old = kernels_find(p->program.kernels, e->subject);

	if (old || e->head.kind != LAUNCH_TOLD)
		counters_leave_at(&l->counters, p->program.id, e->subject, &e->key.generation);
	if (old && kernel && old != kernel)
		rename_others(l, p, e->subject, old);
}

static void on_name(struct launches *l, struct launch_program *p, const struct launch_event *e,
		    const char *text, size_t room)
{
	const struct kernel *k;

	if (!room || !memchr(text, 0, room) ||
	    !program_kernel_named(&p->program, text, e->object, &k))
		return;
	rename_address(l, p, e, k);
	kernels_name(p->program.kernels, e->subject, k);
	if (e->head.kind != LAUNCH_TOLD)
		kernels_own(p->program.kernels, e->subject, e->owner, e->time);
}

static void on_registered(struct launches *l, struct launch_program *p, const struct launch_event *e)
{
	rename_address(l, p, e, NULL);
	kernels_name_at(p->program.kernels, e->subject, e->object);
	kernels_own(p->program.kernels, e->subject, e->owner, e->time);
}

static void on_alias(struct launches *l, struct launch_program *p, const struct launch_event *e)
{
	struct kernels *kernels = p->program.kernels;

	rename_address(l, p, e, kernels_find(kernels, e->object));
	kernels_alias(kernels, e->subject, e->object);
	if (e->owner)
		kernels_own(kernels, e->subject, e->owner, e->time);
	program_look(&p->program, e->subject);	/* while it is alive */
}

struct unloading {
	struct launches *l;
	const struct launch_program *p;
};

static void unload(void *ctx, unsigned long long addr)
{
	const struct unloading *u = ctx;

	counters_leave_at(&u->l->counters, u->p->program.id, addr, NULL);
}

static void on_unloaded(struct launches *l, struct launch_program *p, const struct launch_event *e)
{
	struct unloading u = { l, p };

	kernels_unload(p->program.kernels, e->subject, e->time, unload, &u);
}

static void on_first(struct launches *l, const struct launch_event *e, size_t size)
{
	const unsigned long long *stack = ((const struct launch_first *)e)->stack;
	struct counter *c = launch_counter_of(&l->counters, l->programs, &e->key, e->comm);
	int frames = e->head.frames;

	if (!c)
		return;
	if (frames <= (int)((size - sizeof(*e)) / 8))
		c->stack = stack_get(l->syms, e->key.pid, stack, frames);
	launch_look(c);		/* while it is alive */
}

static void on_process(struct launches *l, const struct process_event *e)
{
	struct launch_program *p = launch_program_of(l->programs, e->program, e->head.pid, e->comm,
					      e->head.kind == RECORD_FORK ? e->parent_program : 0);
	struct counter *c;

	p->over = e->head.kind != RECORD_FORK;
	if (p->over)
		LIST_FOREACH(c, &p->counters, in_program)
			counter_leave(&l->counters, c);
}

void launches_ended(void *launches, const struct process_event *event)
{
	on_process(launches, event);
}

void launches_record(struct launches *l, const void *data, size_t size)
{
	const struct launch_event *e = data;
	struct launch_program *p;

	if (size >= sizeof(struct process_event) && e->head.kind == RECORD_FORK)
		on_process(l, data);
	if (size < sizeof(*e) || record_is_process_event(&e->head))
		return;
	p = launch_program_of(l->programs, e->key.program, e->key.pid, e->comm, 0);
	p->steps += RECORD_STEPS;
	switch (e->head.kind) {
	case LAUNCH_FIRST:
		on_first(l, e, size);
		break;
	case LAUNCH_NAMED:
	case LAUNCH_TOLD:
		on_name(l, p, e, (const char *)(e + 1), size - sizeof(*e));
		break;
	case LAUNCH_REGISTERED:
		on_registered(l, p, e);
		break;
	case LAUNCH_ALIAS:
		on_alias(l, p, e);
		break;
	case LAUNCH_PAIR:
		kernels_pair(p->program.kernels, e->subject, e->object);
		break;
	case LAUNCH_UNLOADED:
		on_unloaded(l, p, e);
		break;
	}
}
