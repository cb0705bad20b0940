/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/die.h"
#include "model/launches.h"
#include "proc/proc.h"
#include "sym/stack.h"
#include "sym/syms.h"

/* The programs and counters of launches, made where they are new. */

/* Returns the program with this id.  comm: its name if it is gone, or NULL; parent: the id of the program
 * that it is a copy of, or 0. */
static struct launch_execution *launch_execution_of(struct launches *l, unsigned long long id, int pid,
					 const char *comm, unsigned long long parent)
{
	struct executions *all = l->programs;
	struct execution *known = executions_find(all, id);
	struct launch_execution *p;

	if (known)
		return (struct launch_execution *)known;
	p = (struct launch_execution *)(parent ? executions_fork(all, parent, id, pid) :
				      executions_get(all, id, pid));
	p->graphs.quota = &l->graphs;
	l->graph_time.each = true;
	p->graphs.time = l->graphs.whole ? NULL : &l->graph_time;
	p->graphs.syms = l->syms;
	p->graphs.user = p->program.user;
	p->graphs.pid = pid;
	if (!proc_comm(pid, p->comm) && comm)
		memcpy(p->comm, comm, sizeof(p->comm) - 1);
	return p;
}

/* Returns the counter with this key, NULL if there are too many. */
static struct counter *launch_counter_of(struct launches *l, const struct launch_key *key, const char *comm)
{
	struct counters *cs = &l->counters;
	struct counter *c = counter_find(cs, key);
	struct launch_execution *p;

	if (c)
		return c;
	p = launch_execution_of(l, key->program, key->pid, comm, 0);
	c = counter_new(cs, key, p);
	if (!c)
		return NULL;
	if (key->kind == LAUNCH_GRAPH)
		c->graph = graphs_now(&p->graphs, key->func);
	counter_begins(cs, c);
	return c;
}

/* Looks its kernel's name up, while the program is alive. */
static void launch_look(struct counter *c)
{
	if (c->key.kind != LAUNCH_GRAPH && !c->fixed && !c->program->over)
		execution_kernel(&c->program->program, c->key.func);
}

/* How often keys are looked for whose records were lost, if that may matter: where many are used. */
static const unsigned long long WALK_NS = 1000000000;
enum { MANY_KEYS = 16384 };

static void free_graphs(struct execution *p)
{
	graphs_free(&((struct launch_execution *)p)->graphs);
}

struct launches *launches_new(struct syms *syms, const struct bpf_map *counts,
			      const struct bpf_map *quick, struct shares *shares, bool keep)
{
	struct launches *l = xcalloc(1, sizeof(*l));

	l->keep = keep;
	l->syms = syms;
	l->programs = executions_new(syms, sizeof(struct launch_execution));
	l->programs->on_free = free_graphs;
	l->graphs = (struct quota){
		.limit = 96 << 20, .what = "nodes of CUDA graphs", .loss = "the kernels of further graphs are not known",
	};
	counters_init(&l->counters, counts, quick, shares);
	return l;
}

void launches_free(struct launches *l)
{
	counters_drop_retired(&l->counters, true);
	counters_free(&l->counters);
	executions_free(l->programs);
	quota_free(&l->graphs);
	budget_free(&l->graph_time);
	free(l);
}

void launches_scan(struct launches *l, int pid)
{
	executions_scan(l->programs, pid);
}

/* Makes a counter for a key whose first record was lost.  If there are too many, the key of a program that
 * has ended is of no use. */
static void find_unreported(void *ctx, const struct launch_key *key)
{
	struct launches *l = ctx;
	const struct launch_execution *p;
	struct launch_count sum;
	struct counter *c;
	bool over;

	if (counter_find(&l->counters, key))
		return;
	p = (const struct launch_execution *)executions_find(l->programs, key->program);
	over = p && p->over;
	if (!counters_read(&l->counters, key, &sum) || !(sum.unreported || over))
		return;		/* its record is still to come */
	c = launch_counter_of(l, key, NULL);
	if (c && key->stack)
		c->stack = stack_missing(l->syms, NO_STACK_RECORD);
	if (!c && over)
		counters_remove_key(&l->counters, key, sum.share);
}

static void find_all_unreported(struct launches *l)
{
	l->walked = clock_ns();
	counters_each_key(&l->counters, find_unreported, l);
}

/* Drops programs that ended and whose last launches were shown. */
static void drop_ended(struct launches *l)
{
	struct execution *p, *next;

	if (l->keep)
		return;
	counters_drop_retired(&l->counters, false);
	HASH_ITER(hh, l->programs->all, p, next)
		if (((struct launch_execution *)p)->counted)
			execution_end(p);
}

static void end_interval(struct counter *c)
{
	c->last = c->pending;
	c->pending = (struct launch_tally){ 0 };
}

void launches_count(struct launches *l)
{
	struct counters *cs = &l->counters;
	struct counter *c;

	drop_ended(l);
	find_all_unreported(l);
	counters_give_back(cs, true);
	for (c = cs->all; c; c = c->hh.next) {
		counter_pull(cs, c);
		end_interval(c);
		launch_look(c);
	}
	for (c = cs->retired; c; c = c->hh.next)
		end_interval(c);
	for (struct execution *p = l->programs->all; p; p = p->hh.next) {
		struct launch_execution *own = (struct launch_execution *)p;

		own->counted = own->over;
		if (!own->over)
			proc_comm(p->pid, own->comm);
	}
}

void launches_tick(struct launches *l)
{
	if (l->counters.shares->used > MANY_KEYS && clock_ns() - l->walked > WALK_NS)
		find_all_unreported(l);
	counters_give_back(&l->counters, false);
}

static void each_graph(struct counter *all, launches_graph_fn *fn, void *ctx)
{
	for (struct counter *c = all; c; c = c->hh.next)
		if (c->key.kind == LAUNCH_GRAPH && c->last.launches)
			fn(ctx, c);
}

void launches_each_graph(const struct launches *l, launches_graph_fn *fn, void *ctx)
{
	each_graph(l->counters.all, fn, ctx);
	each_graph(l->counters.retired, fn, ctx);
}

unsigned long long launches_total(const struct launches *l)
{
	return l->counters.total;
}

unsigned long long launches_impossible(const struct launches *l)
{
	return l->counters.impossible;
}

/* How many counters a program may have renamed for each of its records. */
enum { RECORD_STEPS = 64 };

/* The address now belongs to another kernel: what was launched so far at other addresses that lead to
 * this one keeps its name.  A program that often renames one of many kernels must have sent as many
 * records as this takes steps. */
static void rename_others(struct launches *l, struct launch_execution *p, unsigned long long addr,
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

/* The address now is this kernel's, in launches of this generation: those before keep theirs. */
static void rename_address(struct launches *l, struct launch_execution *p, const struct launch_event *e,
			   const struct kernel *kernel)
{
	const struct kernel *old = kernel_map_find(p->program.kernels, e->subject);

	if (old || e->head.kind != LAUNCH_TOLD)
		counters_leave_at(&l->counters, p->program.id, e->subject, &e->key.generation);
	if (old && kernel && old != kernel)
		rename_others(l, p, e->subject, old);
}

static void on_name(struct launches *l, struct launch_execution *p, const struct launch_event *e,
		    const char *text, size_t room)
{
	const struct kernel *k;

	if (!room || !memchr(text, 0, room) ||
	    !execution_kernel_named(&p->program, text, e->object, &k))
		return;
	rename_address(l, p, e, k);
	kernel_map_name(p->program.kernels, e->subject, k);
	if (e->head.kind != LAUNCH_TOLD)
		kernel_map_own(p->program.kernels, e->subject, e->owner, e->time);
}

static void on_registered(struct launches *l, struct launch_execution *p, const struct launch_event *e)
{
	rename_address(l, p, e, NULL);
	kernel_map_name_at(p->program.kernels, e->subject, e->object);
	kernel_map_own(p->program.kernels, e->subject, e->owner, e->time);
}

static void on_alias(struct launches *l, struct launch_execution *p, const struct launch_event *e)
{
	struct kernel_map *kernels = p->program.kernels;

	rename_address(l, p, e, kernel_map_find(kernels, e->object));
	kernel_map_alias(kernels, e->subject, e->object);
	if (e->owner)
		kernel_map_own(kernels, e->subject, e->owner, e->time);
	execution_kernel(&p->program, e->subject);	/* while it is alive */
}

struct unloading {
	struct launches *l;
	const struct launch_execution *p;
};

static void unload(void *ctx, unsigned long long addr)
{
	const struct unloading *u = ctx;

	counters_leave_at(&u->l->counters, u->p->program.id, addr, NULL);
}

static void on_unloaded(struct launches *l, struct launch_execution *p, const struct launch_event *e)
{
	struct unloading u = { l, p };

	kernel_map_unload(p->program.kernels, e->subject, e->time, unload, &u);
}

/* A change of an executable graph begins a new generation of its launches. */
static void on_graph(struct launches *l, struct launch_execution *p, const struct launch_event *e, size_t size)
{
	const unsigned long long lost = p->graphs.lost;

	graphs_record(&p->graphs, &p->program, e, size);
	l->lost_nodes += p->graphs.lost - lost;
	if (e->head.kind == LAUNCH_CAPTURE_ENDED)
		captures_drop_ended(&l->captures);
	if (e->key.generation && e->head.kind != LAUNCH_CAPTURED)
		counters_leave_at(&l->counters, p->program.id, e->subject, &e->key.generation);
}

static void on_first(struct launches *l, const struct launch_event *e, size_t size)
{
	const unsigned long long *stack = ((const struct launch_first *)e)->stack;
	struct counter *c = launch_counter_of(l, &e->key, e->comm);
	int frames = e->head.frames;

	if (!c)
		return;
	if (l->syms && frames <= (int)((size - sizeof(*e)) / 8))
		c->stack = stack_get(l->syms, e->key.pid, stack, frames);
	launch_look(c);		/* while it is alive */
}

static void on_process(struct launches *l, const struct process_event *e)
{
	struct launch_execution *p = launch_execution_of(l, e->program, e->head.pid, e->comm,
					      e->head.kind == RECORD_FORK ? e->parent_program : 0);
	struct counter *c;

	p->over = e->head.kind != RECORD_FORK;
	if (!p->over)
		return;
	LIST_FOREACH(c, &p->counters, in_program)
		counter_leave(&l->counters, c);
	if (p->graphs.captured)
		captures_drop_program(&l->captures, p->program.id);
	graphs_free(&p->graphs);
}

static void on_made(struct launches *l, const struct launch_made *e)
{
	struct counter *c = counter_find(&l->counters, &e->key);

	l->on_launch(l->ctx, e, c ? c->stack : NULL);
}

void launches_ended(void *launches, const struct process_event *event)
{
	on_process(launches, event);
}

void launches_record(struct launches *l, const void *data, size_t size)
{
	const struct launch_event *e = data;
	struct launch_execution *p;

	if (size >= sizeof(struct process_event) && e->head.kind == RECORD_FORK)
		on_process(l, data);
	if (l->on_launch && size >= sizeof(struct launch_made) && e->head.kind == LAUNCH_MADE)
		on_made(l, data);
	if (size < sizeof(*e) || record_is_process_event(&e->head))
		return;
	p = launch_execution_of(l, e->key.program, e->key.pid, e->comm, 0);
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
		kernel_map_pair(p->program.kernels, e->subject, e->object);
		break;
	case LAUNCH_UNLOADED:
		on_unloaded(l, p, e);
		break;
	default:
		on_graph(l, p, e, size);
	}
}

struct row_index {
	struct {
		const void *program, *name, *stack;
		unsigned long long func;
		int kind;
		unsigned int device;
		unsigned long long stream;
	} key;
	size_t at;
	UT_hash_handle hh;
};

struct row_gathering {
	struct launch_row *rows;
	size_t n, room;
	struct row_index *indexes;
	enum launches_by by;
};

/* Subject of a row: that of its counter, or a kernel of its graph. */
struct shown {
	const struct kernel *kernel;
	unsigned long long func;
	int kind;
	bool unknown;
};

static struct launch_row *launches_row_of(struct row_gathering *g, struct counter *c, const struct shown *shown)
{
	bool by_process = g->by == LAUNCHES_BY_PROCESS, by_graph = g->by == LAUNCHES_BY_GRAPH;
	const struct kernel *k = by_process ? NULL : shown->kernel;
	struct row_index *i, want;

	memset(&want, 0, sizeof(want));
	want.key.program = c->program;
	want.key.device = c->key.device;
	want.key.stream = c->key.stream;
	if (!by_process) {
		want.key.name = by_graph ? (const void *)c->graph.content : !k ? NULL : g->by == LAUNCHES_BY_FULL ? k->full : k->brief;
		want.key.func = k ? 0 : shown->func;
		want.key.stack = stack_shown(by_graph ? c->graph.made : c->stack);
		want.key.kind = shown->kind;
	}
	HASH_FIND(hh, g->indexes, &want.key, sizeof(want.key), i);
	if (i)
		return &g->rows[i->at];
	ALLOC_GROW(g->rows, g->n, g->room);
	i = xcalloc(1, sizeof(*i));
	i->key = want.key;
	i->at = g->n;
	HASH_ADD(hh, g->indexes, key, sizeof(i->key), i);
	g->rows[g->n] = (struct launch_row){
		.program = &c->program->program, .pid = c->program->program.pid, .device = c->key.device, .stream = c->key.stream,
		.comm = c->program->comm, .kernel = k,
		.func = by_process ? 0 : shown->func, .stack = want.key.stack,
		.kind = by_process ? -1 : shown->kind, .unknown = shown->unknown, .graph = by_graph ? &c->graph : NULL,
	};
	return &g->rows[g->n++];
}

static void add_to_row(struct launch_row *r, const struct launch_tally *last, const struct launch_tally *total)
{
	tally_add(&r->last, last);
	tally_add(&r->total, total);
}

/* The shape is that of the last launch. */
static void shape_row(struct launch_row *r, const struct row_gathering *g, const struct counter *c,
		      const unsigned *grid, const unsigned *block)
{
	if (c->seen.time < r->time)
		return;
	r->time = c->seen.time;
	if (g->by == LAUNCHES_BY_PROCESS)
		return;
	memcpy(r->grid, grid, sizeof(r->grid));
	memcpy(r->block, block, sizeof(r->block));
}

static struct launch_tally times(const struct launch_tally *replays, unsigned n)
{
	return (struct launch_tally){
		.launches = replays->launches * n, .failed = replays->failed * n, .replayed = replays->launches * n,
	};
}

static void gather_graph(struct row_gathering *g, struct counter *c)
{
	const struct kernel_map *kernels = c->program->program.kernels;

	for (size_t i = 0; i < c->graph.content->n; i++) {
		const struct graph_work *k = &c->graph.content->all[i];
		const struct launch_tally last = times(&c->last, k->count), total = times(&c->total, k->count);
		const struct shown shown = {
			k->kernel ?: kernel_map_find(kernels, k->func), kernel_map_handle(kernels, k->func), k->kind, false,
		};

		if (graph_work_is_kernel(k)) {
			struct launch_row *r = launches_row_of(g, c, &shown);

			add_to_row(r, &last, &total);
			shape_row(r, g, c, k->grid, k->block);
		}
	}
}

static void gather(struct row_gathering *g, struct counter *c)
{
	const struct shown shown = {
		counter_kernel(c), counter_func(c), c->key.kind, c->key.kind == LAUNCH_GRAPH && !c->graph.known,
	};
	struct launch_row *r;

	if (!c->total.launches || (g->by == LAUNCHES_BY_GRAPH && c->key.kind != LAUNCH_GRAPH))
		return;
	if (c->graph.content && c->graph.content->kernels && g->by != LAUNCHES_BY_GRAPH) {
		gather_graph(g, c);
		return;
	}
	r = launches_row_of(g, c, &shown);
	add_to_row(r, &c->last, &c->total);
	shape_row(r, g, c, c->seen.grid, c->seen.block);
}

struct launch_row *launches_rows(const struct launches *l, enum launches_by by, size_t *n)
{
	struct row_gathering g = { .by = by };
	struct counter *c;

	for (c = l->counters.all; c; c = c->hh.next)
		gather(&g, c);
	for (c = l->counters.retired; c; c = c->hh.next)
		gather(&g, c);
	HASH_FREE(g.indexes);
	*n = g.n;
	return g.rows;
}
