/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "base/die.h"
#include "cudalaunchtop/launches.h"
#include "proc/proc.h"
#include "sym/syms.h"

/* How many counters a program may have renamed for each of its records. */
enum { RECORD_STEPS = 64 };

struct launches *launches_new(struct syms *syms, const struct bpf_map *counts,
			      const struct bpf_map *quick, struct shares *shares, bool keep)
{
	struct launches *l = xcalloc(1, sizeof(*l));

	l->keep = keep;
	l->syms = syms;
	l->programs = programs_new(syms, sizeof(struct launch_program));
	counters_init(&l->counters, counts, quick, shares);
	return l;
}

void launches_free(struct launches *l)
{
	counters_free(&l->counters);
	programs_free(l->programs);
	free(l);
}

void launches_scan(struct launches *l, int pid)
{
	programs_scan(l->programs, pid);
}

/* parent: the id of the program it is a copy of, or 0. */
static struct launch_program *program_of(struct launches *l, unsigned long long id, int pid,
					 const char *comm, unsigned long long parent)
{
	struct program *known = programs_find(l->programs, id);
	struct launch_program *p;

	if (known)
		return (struct launch_program *)known;
	p = (struct launch_program *)(parent ? programs_fork(l->programs, parent, id, pid) :
				      programs_get(l->programs, id, pid));
	if (!proc_comm(pid, p->comm) && comm)
		memcpy(p->comm, comm, sizeof(p->comm) - 1);
	return p;
}

static struct counter *counter_of(struct launches *l, const struct launch_key *key,
				  const char *comm)
{
	struct counter *c = counter_find(&l->counters, key);

	if (c)
		return c;
	return counter_new(&l->counters, key, program_of(l, key->program, key->pid, comm, 0));
}

static void make_counter(void *ctx, const struct launch_key *key)
{
	counter_of(ctx, key, NULL);
}

static void look(struct counter *c)
{
	if (c->key.kind != LAUNCH_GRAPH && !c->kernel && !c->program->over)
		program_look(&c->program->program, c->key.func);
}

static void rename_counter(struct launches *l, struct counter *c, const struct kernel *old)
{
	if (!c || c->kernel || kernels_find(c->program->program.kernels, c->key.func) != old)
		return;
	counter_pull(&l->counters, c);
	if (c->total)
		counter_split(&l->counters, c, old);
}

/* The counters of the address itself, which cost nothing to find. */
static void rename_at(struct launches *l, struct launch_program *p, unsigned long long addr,
		      const struct kernel *old)
{
	struct launch_key key = { .program = p->program.id, .func = addr, .pid = p->program.pid };

	for (key.kind = 0; key.kind < LAUNCH_KIND_MAX; key.kind++)
		rename_counter(l, counter_find(&l->counters, &key), old);
}

/* The address now belongs to another kernel: what was launched so far keeps its name, also at other
 * addresses that lead to this one.  A program that often renames one of many kernels must have sent
 * as many records as this takes steps; else it gets only the address itself. */
static void rename_address(struct launches *l, struct launch_program *p, unsigned long long addr,
			   const struct kernel *kernel)
{
	const struct kernel *old = kernels_find(p->program.kernels, addr);

	if (!old || !kernel || old == kernel)
		return;
	if (p->steps < p->ncounters) {
		rename_at(l, p, addr, old);
		return;
	}
	p->steps -= p->ncounters;
	for (struct counter *c = p->counters; c; c = c->sibling)
		rename_counter(l, c, old);
}

static void on_name(struct launches *l, struct launch_program *p, const struct launch_event *e,
		    const char *text, size_t room)
{
	const struct kernel *k;

	if (!room || !memchr(text, 0, room) ||
	    !program_kernel_named(&p->program, text, e->object, &k))
		return;
	rename_address(l, p, e->subject, k);
	kernels_name(p->program.kernels, e->subject, k);
}

static void on_alias(struct launches *l, struct launch_program *p, const struct launch_event *e)
{
	struct kernels *kernels = p->program.kernels;

	rename_address(l, p, e->subject, kernels_find(kernels, e->object));
	kernels_alias(kernels, e->subject, e->object);
	program_look(&p->program, e->subject);	/* while it is alive */
}

static void on_first(struct launches *l, const struct launch_event *e, size_t size)
{
	const unsigned long long *stack = ((const struct launch_first *)e)->stack;
	struct counter *c = counter_of(l, &e->key, e->comm);
	int frames = e->head.frames;

	if (!c)
		return;
	if (frames <= (int)((size - sizeof(*e)) / 8))
		c->stack = stack_get(l->syms, e->key.pid, stack, frames);
	look(c);		/* while it is alive */
}

static void on_process(struct launches *l, const struct process_event *e)
{
	struct launch_program *p = program_of(l, e->program, e->head.pid, e->comm,
					      e->head.kind == RECORD_FORK ? e->parent_program : 0);

	p->over = e->head.kind != RECORD_FORK;
	if (e->head.kind == RECORD_EXEC)
		syms_refresh(l->syms, p->program.pid);
	if (e->head.kind == RECORD_EXIT)
		syms_forget(l->syms, p->program.pid);
}

void launches_record(struct launches *l, const void *data, size_t size)
{
	const struct launch_event *e = data;
	struct launch_program *p;

	if (size >= sizeof(struct process_event) && record_is_process_event(data)) {
		on_process(l, data);
		return;
	}
	if (size < sizeof(*e))
		return;
	p = program_of(l, e->key.program, e->key.pid, e->comm, 0);
	p->steps += RECORD_STEPS;
	switch (e->head.kind) {
	case LAUNCH_FIRST:
		on_first(l, e, size);
		break;
	case LAUNCH_NAMED:
		on_name(l, p, e, (const char *)(e + 1), size - sizeof(*e));
		break;
	case LAUNCH_ALIAS:
		on_alias(l, p, e);
		break;
	case LAUNCH_PAIR:
		kernels_pair(p->program.kernels, e->subject, e->object);
		break;
	}
}

/* Drops programs that ended and whose last launches were shown. */
static void drop_ended(struct launches *l)
{
	struct program *p, *next;

	if (l->keep)
		return;
	counters_drop_ended(&l->counters);
	HASH_ITER(hh, l->programs->all, p, next)
		if (((struct launch_program *)p)->counted)
			program_end(p);
}

static void end_interval(struct counter *c)
{
	c->launches = c->pending;
	c->failed = c->pending_failed;
	c->pending = c->pending_failed = 0;
}

void launches_count(struct launches *l)
{
	struct counters *cs = &l->counters;
	struct counter *c;

	drop_ended(l);
	counters_each_key(cs, make_counter, l);
	for (c = cs->all; c; c = c->hh.next) {
		if (!c->program->counted)
			counter_pull(cs, c);
		end_interval(c);
		look(c);
	}
	counters_clear_ended(cs);
	for (c = cs->former; c; c = c->next)
		end_interval(c);
	for (struct program *p = l->programs->all; p; p = p->hh.next) {
		struct launch_program *own = (struct launch_program *)p;

		own->counted = own->over;
		if (!own->over)
			proc_comm(p->pid, own->comm);
	}
}

unsigned long long launches_total(const struct launches *l)
{
	return l->counters.total;
}
