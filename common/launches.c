/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "hash.h"
#include "kernels.h"
#include "launch_counter.h"
#include "launches.h"
#include "proc.h"
#include "syms.h"

/* How often to look for the kernel of an address: its variable may not be filled in yet. */
enum { MAX_LOOKS = 4 };

/* What was seen of a process when tracing began. */
struct early {
	int pid;
	struct kernels *kernels;
	UT_hash_handle hh;
};

static int map, cpus;
static bool keep_ended;
static struct launch_count *values;
static struct program *programs;
static struct early *early;
struct counter *counters, *former_counters;
static unsigned long long total;

void launches_init(int counts, bool keep)
{
	map = counts;
	keep_ended = keep;
	cpus = libbpf_num_possible_cpus();
	if (cpus < 1)
		die(cpus, "cannot tell how many processors there are");
	values = xcalloc(cpus, sizeof(*values));
}

void launches_look(int pid)
{
	struct early *e = xcalloc(1, sizeof(*e));

	e->pid = pid;
	e->kernels = kernels_new(pid, NULL);
	kernels_look_at_handles(e->kernels);
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
	struct counter *c;

	HASH_FIND(hh, counters, key, sizeof(*key), c);
	if (c)
		return c;
	c = xcalloc(1, sizeof(*c));
	c->key = *key;
	c->program = program_of(key->program, key->pid, comm);
	HASH_ADD(hh, counters, key, sizeof(*key), c);
	return c;
}

const struct kernel *counter_kernel(const struct counter *c)
{
	if (c->kernel || c->key.kind == LAUNCH_GRAPH)
		return c->kernel;
	return kernels_find(c->program->kernels, c->key.func);
}

/* Looks for it in the process. */
static void look(struct counter *c)
{
	if (c->key.kind != LAUNCH_GRAPH && !counter_kernel(c) && !c->program->ended &&
	    c->looked++ < MAX_LOOKS)
		kernels_look(c->program->kernels, c->key.func);
}

/* Adds what the map has counted since the last time. */
static void pull(struct counter *c)
{
	struct launch_count sum = { 0 };

	if (bpf_map_lookup_elem(map, &c->key, values))
		return;
	for (int i = 0; i < cpus; i++) {
		sum.launches += values[i].launches;
		sum.failed += values[i].failed;
		if (values[i].time <= sum.time)
			continue;
		sum.time = values[i].time;
		memcpy(sum.grid, values[i].grid, sizeof(sum.grid));
		memcpy(sum.block, values[i].block, sizeof(sum.block));
	}
	c->pending += sum.launches - c->seen.launches;
	c->pending_failed += sum.failed - c->seen.failed;
	c->total += sum.launches - c->seen.launches;
	c->total_failed += sum.failed - c->seen.failed;
	total += sum.launches - c->seen.launches;
	c->seen = sum;
}

/* An address becomes another kernel's: what was launched until now keeps its name. */
static void rename_address(struct program *p, unsigned long long addr, const struct kernel *k)
{
	const struct kernel *old = kernels_find(p->kernels, addr);
	struct counter *c, *was;

	if (!old || !k || old == k)
		return;
	for (c = counters; c; c = c->hh.next) {
		if (c->program != p || c->kernel || kernels_find(p->kernels, c->key.func) != old)
			continue;
		pull(c);
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
		kernels_look(p->kernels, e->subject);
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
	const unsigned long long *stack = (const void *)(e + 1);
	struct counter *c = counter_of(&e->key, e->comm);
	int skip = e->frames && !*stack;

	if (e->frames <= (size - sizeof(*e)) / 8)
		c->stack = stack_get(e->key.pid, stack + skip, e->frames - skip);
	look(c);		/* while it lives */
}

int launches_record(void *ctx, void *data, size_t size)
{
	const struct launch_event *e = data;
	struct program *p;

	(void)ctx;
	if (size < sizeof(*e))
		return 0;
	p = program_of(e->key.program, e->key.pid, e->comm);
	switch (e->what) {
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
	case LAUNCH_FORKED:
		on_fork(p, e->object);
		break;
	case LAUNCH_EXEC:
		p->ended = true;
		syms_look(p->pid);
		break;
	case LAUNCH_ENDED:
		p->ended = true;
		syms_forget(p->pid);
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
	struct launch_key key, *last = NULL;
	struct counter *c;
	struct program *p;

	drop_ended();
	while (!bpf_map_get_next_key(map, last, &key)) {
		counter_of(&key, NULL);
		last = &key;
	}
	for (c = counters; c; c = c->hh.next) {
		if (!c->program->counted)
			pull(c);
		end_interval(c);
		if (c->program->ended && !c->program->counted)
			bpf_map_delete_elem(map, &c->key);
		else
			look(c);
	}
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
	return total;
}
