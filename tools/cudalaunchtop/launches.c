/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "base/hash.h"
#include "sym/kernels.h"
#include "cudalaunchtop/launch_counter.h"
#include "cudalaunchtop/launches.h"
#include "proc/proc.h"
#include "sym/syms.h"

/* How often to look for the kernel of an address: its variable may not be filled in yet. */
enum { MAX_LOOKS = 4 };

/* What was seen of a process when tracing began. */
struct early {
	int pid;
	struct kernels *kernels;
	UT_hash_handle hh;
};

static bool keep_ended;
static struct program *programs;
static struct early *early;

void launches_init(const struct bpf_map *counts, const struct bpf_map *quick, bool keep)
{
	counters_init(counts, quick);
	keep_ended = keep;
}

void launches_scan(int pid)
{
	struct early *e = xcalloc(1, sizeof(*e));

	e->pid = pid;
	e->kernels = kernels_new(pid, NULL);
	kernels_resolve_handles(e->kernels);
	HASH_ADD_INT(early, pid, e);
}

/* Of the program that runs in the process now, not of one that it calls exec for.  What it
 * has stays: a child may look there. */
static const struct kernels *early_of(int pid)
{
	const struct kernels *found;
	struct early *e;

	HASH_FIND_INT(early, &pid, e);
	if (!e)
		return NULL;
	found = e->kernels;
	HASH_DEL(early, e);
	free(e);
	return found;
}

static struct program *program_of(unsigned long long id, int pid, const char *comm)
{
	struct program *p;

	HASH_FIND(hh, programs, &id, sizeof(id), p);
	if (p)
		return p;
	p = xcalloc(1, sizeof(*p));
	p->id = id;
	p->pid = pid;
	if (!proc_comm(pid, p->comm) && comm)
		memcpy(p->comm, comm, sizeof(p->comm) - 1);
	p->kernels = kernels_new(pid, early_of(pid));
	HASH_ADD(hh, programs, id, sizeof(id), p);
	return p;
}

static struct counter *counter_of(const struct launch_key *key, const char *comm)
{
	struct counter *c = counter_find(key);

	return c ? c : counter_new(key, program_of(key->program, key->pid, comm));
}

static void make_counter(const struct launch_key *key)
{
	counter_of(key, NULL);
}

/* Looks for it in the process. */
static void look(struct counter *c)
{
	if (c->key.kind != LAUNCH_GRAPH && !counter_kernel(c) && !c->program->ended &&
	    c->looked++ < MAX_LOOKS)
		kernels_resolve(c->program->kernels, c->key.func);
}

/* An address becomes another kernel's: what was launched until now keeps its name. */
static void rename_address(struct program *p, unsigned long long addr, const struct kernel *k)
{
	const struct kernel *old = kernels_find(p->kernels, addr);
	struct counter *c, *was;

	if (!old || !k || old == k)
		return;
	counters_read();
	for (c = counters; c; c = c->hh.next) {
		if (c->program != p || c->kernel || kernels_find(p->kernels, c->key.func) != old)
			continue;
		counter_pull(c);
		if (!c->total)
			continue;
		was = xcalloc(1, sizeof(*was));
		*was = *c;
		was->kernel = old;
		was->next = former_counters;
		former_counters = was;
		c->total = c->total_failed = c->launches = c->failed = 0;
		c->pending = c->pending_failed = 0;
	}
}

static void on_name(struct program *p, const struct launch_event *e, const char *text, size_t room)
{
	char buf[LAUNCH_LONG_NAME];
	const struct kernel *k;

	if (!room || !memchr(text, 0, room))
		return;
	if (!*text) {
		if (!kernels_read_string(p->pid, e->object, buf, sizeof(buf)))
			return;
		text = buf;
	}
	k = kernel_named(text);
	rename_address(p, e->subject, k);
	kernels_name(p->kernels, e->subject, k);
}

static void on_alias(struct program *p, const struct launch_event *e)
{
	rename_address(p, e->subject, kernels_find(p->kernels, e->object));
	kernels_alias(p->kernels, e->subject, e->object);
	if (!kernels_find(p->kernels, e->subject))	/* while it lives */
		kernels_resolve(p->kernels, e->subject);
}

static void on_fork(struct program *p, unsigned long long parent)
{
	HASH_FIND(hh, programs, &parent, sizeof(parent), p->parent);
	if (!p->parent)
		return;
	p->parent->children++;
	kernels_free(p->kernels);
	p->kernels = kernels_new(p->pid, p->parent->kernels);
}

static void on_first(const struct launch_event *e, size_t size)
{
	const unsigned long long *stack = ((const struct launch_first *)e)->stack;
	struct counter *c = counter_of(&e->key, e->comm);
	int frames = e->head.frames, skip = frames && !*stack;

	if (frames <= (int)((size - sizeof(*e)) / 8))
		c->stack = stack_get(e->key.pid, stack + skip, frames - skip);
	look(c);		/* while it lives */
}

static void on_process(const struct process_event *e)
{
	struct program *p = program_of(e->program, e->head.pid, e->comm);

	switch (e->head.kind) {
	case RECORD_FORK:
		on_fork(p, e->parent_program);
		break;
	case RECORD_EXEC:
		p->ended = true;
		syms_refresh(p->pid);
		break;
	case RECORD_EXIT:
		p->ended = true;
		syms_forget(p->pid);
		break;
	}
}

int launches_record(void *ctx, void *data, size_t size)
{
	const struct launch_event *e = data;
	struct program *p;

	(void)ctx;
	if (size >= sizeof(struct process_event) && record_is_process_event(data)) {
		on_process(data);
		return 0;
	}
	if (size < sizeof(*e))
		return 0;
	p = program_of(e->key.program, e->key.pid, e->comm);
	switch (e->head.kind) {
	case LAUNCH_FIRST:
		on_first(e, size);
		break;
	case LAUNCH_NAMED:
		on_name(p, e, (const char *)(e + 1), size - sizeof(*e));
		break;
	case LAUNCH_ALIAS:
		on_alias(p, e);
		break;
	case LAUNCH_PAIR:
		kernels_pair(p->kernels, e->subject, e->object);
		break;
	}
	return 0;
}

/* Programs that ended and whose last launches were shown. */
static void drop_ended(void)
{
	struct counter *c, *next, **at = &former_counters;
	struct program *p, *other;

	if (keep_ended)
		return;
	HASH_ITER(hh, counters, c, next) {
		if (!c->program->counted)
			continue;
		HASH_DEL(counters, c);
		free(c);
	}
	while ((c = *at)) {
		if (c->program->counted) {
			*at = c->next;
			free(c);
		} else {
			at = &c->next;
		}
	}
	HASH_ITER(hh, programs, p, other) {
		if (!p->counted || p->children)
			continue;
		if (p->parent)
			p->parent->children--;
		HASH_DEL(programs, p);
		kernels_free(p->kernels);
		free(p);
	}
}

static void end_interval(struct counter *c)
{
	c->launches = c->pending;
	c->failed = c->pending_failed;
	c->pending = c->pending_failed = 0;
}

void launches_count(void)
{
	struct counter *c;
	struct program *p;

	drop_ended();
	counters_each_key(make_counter);
	counters_read();
	for (c = counters; c; c = c->hh.next) {
		if (!c->program->counted)
			counter_pull(c);
		end_interval(c);
		if (!c->program->ended)
			look(c);
	}
	counters_free_ended();
	for (c = former_counters; c; c = c->next)
		end_interval(c);
	for (p = programs; p; p = p->hh.next) {
		p->counted = p->ended;
		if (!p->ended)
			proc_comm(p->pid, p->comm);
	}
}

unsigned long long launches_total(void)
{
	return counters_total();
}
