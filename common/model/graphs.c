/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "abi/launch.h"
#include "api/cuda_api.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/quota.h"
#include "kernels/executions.h"
#include "model/graphs.h"
#include "sym/stack.h"
#include "sym/syms.h"

struct graph_node {
	unsigned long long handle;	/* 0: it was captured */
	bool disabled;
	struct graph_work work;		/* kind NODE_KIND_MAX: none */
	struct graph_content *child;	/* of LAUNCH_GRAPH; NULL: it does nothing, or that is not known */
	unsigned within;		/* of the child: counted in nnodes */
};

/* Of a graph, and of its copies as long as neither changes: a program can instantiate a graph of
 * thousands of nodes in a loop. */
struct node_list {
	unsigned refs, n, room;
	struct graph_node *nodes;
	bool changed;			/* since content was made */
	struct graph_content *content;
};

/* A graph, an executable graph or a capture. */
struct graph {
	unsigned long long handle, time;	/* time: since when it is so, ns */
	struct node_list *list;
	bool partial;			/* more than is here */
	bool indexed;			/* its nodes are found by their handles */
	const struct stack *made;	/* see struct graph_now */
	UT_hash_handle hh;
};

/* The graph that a node was added to. */
struct graph_node_of {
	unsigned long long handle;
	struct graph *graph;
	UT_hash_handle hh;
};

/* Bytes on the heap, with the place in a table. */
enum {
	GRAPH_COST = sizeof(struct graph) + sizeof(struct node_list) + 96,
	NODE_COST = sizeof(struct graph_node) + sizeof(struct graph_node_of) + 32
};

const char *node_kind_name(unsigned kind)
{
	static const char *const names[NODE_KIND_MAX] = {
		[LAUNCH_KERNEL] = "kernel", [LAUNCH_COOPERATIVE] = "cooperative", [NODE_COPY] = "memcpy", [NODE_SET] = "memset",
		[NODE_HOST] = "host", [NODE_ALLOC] = "alloc", [NODE_FREE] = "free", [NODE_CONDITIONAL] = "conditional",
		[NODE_OPERATION] = "operation",
	};

	return kind < NODE_KIND_MAX && names[kind] ? names[kind] : "other";
}

/* ---- Contents */

static size_t content_cost(const struct graph_content *c)
{
	return sizeof(*c) + c->n * sizeof(*c->all) + 64;
}

/* Of each reference: who has one lists the works, and may print a row for each. */
static size_t reference_cost(const struct graph_content *c)
{
	return c->n * 64;
}

struct graph_content *graph_content_get(struct graph_content *c)
{
	if (!c || !quota_take(c->quota, c->user, c->pid, reference_cost(c)))
		return NULL;
	c->refs++;
	return c;
}

static void drop_content(struct graph_content *c)
{
	for (size_t i = 0; i < c->n; i++)
		kernel_put(c->all[i].kernel);
	if (c->operations)
		c->free_operations(c->operations);
	free(c);
}

void graph_content_put(struct graph_content *c)
{
	if (!c)
		return;
	if (--c->refs) {
		quota_give(c->quota, c->user, reference_cost(c));
		return;
	}
	if (c->table)
		HASH_DEL(*c->table, c);
	quota_give(c->quota, c->user, content_cost(c) + c->operations_cost);
	drop_content(c);
}

static unsigned number_of(const struct graph_work *w)
{
	return w->kind == NODE_OPERATION ? 1 + w->operation.number : 0;
}

/* All that is needed of memory, which has no kernel. */
static int by_memory(const void *a, const void *b)
{
	const struct graph_work *p = a, *q = b;

	if (number_of(p) != number_of(q))
		return number_of(p) < number_of(q) ? -1 : 1;
	if (p->func != q->func)
		return p->func < q->func ? -1 : 1;
	if (p->kernel != q->kernel)
		return p->kernel < q->kernel ? -1 : 1;
	return p->kind < q->kind ? -1 : p->kind > q->kind;
}

static int by_work(const void *a, const void *b)
{
	const struct graph_work *p = a, *q = b;
	int order = by_memory(a, b);

	if (order)
		return order;
	if (p->bytes != q->bytes)
		return p->bytes < q->bytes ? -1 : 1;
	if (p->direction != q->direction)
		return p->direction < q->direction ? -1 : 1;
	return memcmp(p->grid, q->grid, sizeof(p->grid)) ?: memcmp(p->block, q->block, sizeof(p->block));
}

bool graph_content_has(const struct graph_content *c, enum node_kind kind, unsigned long long at)
{
	const struct graph_work want = { .func = at, .kind = kind };

	return bsearch(&want, c->all, c->n, sizeof(*c->all), by_memory);
}

/* Joins what is the same in a sorted list; returns how many are left. */
static size_t join(struct graph_work *all, size_t n)
{
	size_t to = 0;

	for (size_t i = 1; i < n; i++) {
		if (by_work(&all[to], &all[i]))
			all[++to] = all[i];
		else
			all[to].count += all[i].count;
	}
	return n ? to + 1 : 0;
}

static size_t count_work(const struct node_list *l)
{
	size_t n = 0;

	for (unsigned i = 0; i < l->n; i++) {
		const struct graph_content *child = l->nodes[i].child;

		n += l->nodes[i].work.kind != LAUNCH_GRAPH ? 1 : child ? child->n : 0;
	}
	return n;
}

static struct graph_content *list_work(const struct node_list *l)
{
	struct graph_content *c = xcalloc(1, sizeof(*c) + count_work(l) * sizeof(*c->all));

	for (unsigned i = 0; i < l->n; i++) {
		const struct graph_node *node = &l->nodes[i];

		if (node->disabled || node->work.kind == NODE_KIND_MAX)
			continue;
		if (node->work.kind != LAUNCH_GRAPH) {
			c->all[c->n++] = node->work;
		} else if (node->child) {
			memcpy(c->all + c->n, node->child->all, node->child->n * sizeof(*c->all));
			c->n += node->child->n;
		}
	}
	for (size_t i = 0; i < c->n; i++)
		if (c->all[i].kind == NODE_OPERATION)
			c->all[i].operation.number = i;
	if (c->n)
		qsort(c->all, c->n, sizeof(*c->all), by_work);
	c->n = join(c->all, c->n);
	return c;
}

static void lose_content(struct graphs *gs, struct graph *g)
{
	gs->lost++;
	g->partial = true;
}

/* Returns the content of a graph, the same for the same work; NULL if it has none, or there is no room. */
static struct graph_content *make_content(struct graphs *gs, struct graph *g)
{
	struct graph_content *c = list_work(g->list), *same = NULL;
	size_t size = c->n * sizeof(*c->all);

	if (size)
		HASH_FIND(hh, gs->contents, c->all, size, same);
	if (same || !size) {
		free(c);
		c = graph_content_get(same);
		if (same && !c)
			lose_content(gs, g);
		return c;
	}
	if (!quota_take(gs->quota, gs->user, gs->pid, content_cost(c))) {
		free(c);
		lose_content(gs, g);
		return NULL;
	}
	c->quota = gs->quota;
	c->user = gs->user;
	c->pid = gs->pid;
	for (size_t i = 0; i < c->n; i++) {
		kernel_get(c->all[i].kernel);
		c->kernels += graph_work_is_kernel(&c->all[i]) ? c->all[i].count : 0;
		c->memory |= c->all[i].kind == NODE_ALLOC || c->all[i].kind == NODE_FREE;
		c->noperations += c->all[i].kind == NODE_OPERATION;
	}
	c->table = &gs->contents;
	c->refs = 1;
	HASH_ADD_KEYPTR(hh, gs->contents, c->all, size, c);
	return c;
}

static struct graph_content *content_of(struct graphs *gs, struct graph *g)
{
	const bool partial = g->partial;
	struct node_list *list = g->list;
	struct graph_content *content;

	if (list->changed) {
		graph_content_put(list->content);
		list->content = make_content(gs, g);
		list->changed = g->partial && !partial;	/* a copy may try again */
	}
	content = graph_content_get(list->content);
	if (list->content && !content)
		lose_content(gs, g);
	return content;
}

struct graph_now graphs_now(struct graphs *gs, unsigned long long exec)
{
	unsigned long long now = clock_ns();
	struct graph_now is = { 0 };
	struct graph *g;

	HASH_FIND(hh, gs->all, &exec, sizeof(exec), g);
	if (g && !g->partial)
		is.content = content_of(gs, g);
	is.known = g && !g->partial;
	is.made = g ? g->made : NULL;
	if (gs->time)
		budget_charge(gs->time, gs->user, clock_ns() - now);
	return is;
}

/* ---- Graphs and their nodes */

static void node_clear(struct graphs *gs, struct graph_node *node)
{
	gs->nnodes -= node->within;
	kernel_put(node->work.kernel);
	graph_content_put(node->child);
	*node = (struct graph_node){ .handle = node->handle, .work.kind = NODE_KIND_MAX };
}

static struct graph_node_of *node_of(const struct graphs *gs, unsigned long long handle)
{
	struct graph_node_of *of;

	HASH_FIND(hh, gs->nodes, &handle, sizeof(handle), of);
	return of;
}

static void forget_node(struct graphs *gs, const struct graph *g, unsigned long long handle)
{
	struct graph_node_of *of = node_of(gs, handle);

	if (!of || of->graph != g)
		return;
	HASH_DEL(gs->nodes, of);
	free(of);
}

static struct node_list *list_new(void)
{
	struct node_list *l = xcalloc(1, sizeof(*l));

	l->refs = 1;
	l->changed = true;
	return l;
}

static void list_put(struct graphs *gs, struct node_list *l)
{
	if (--l->refs)
		return;
	for (unsigned i = 0; i < l->n; i++)
		node_clear(gs, &l->nodes[i]);
	quota_give(gs->quota, gs->user, l->n * NODE_COST);
	gs->nnodes -= l->n;
	graph_content_put(l->content);
	free(l->nodes);
	free(l);
}

/* The graph takes over the list. */
static void set_list(struct graphs *gs, struct graph *g, struct node_list *l)
{
	for (unsigned i = 0; g->indexed && i < g->list->n; i++)
		if (g->list->nodes[i].handle)
			forget_node(gs, g, g->list->nodes[i].handle);
	g->indexed = false;
	list_put(gs, g->list);
	g->list = l;
}

static void clear(struct graphs *gs, struct graph *g)
{
	set_list(gs, g, list_new());
	g->partial = false;
}

static void graphs_drop(struct graphs *gs, struct graph **table, struct graph *g)
{
	set_list(gs, g, NULL);
	HASH_DEL(*table, g);
	quota_give(gs->quota, gs->user, GRAPH_COST);
	gs->n--;
	free(g);
}

static struct graph *graphs_find(struct graph *table, unsigned long long handle)
{
	struct graph *g;

	HASH_FIND(hh, table, &handle, sizeof(handle), g);
	return g;
}

/* Returns the graph of that handle or id, a new one if there is none; NULL if there are too many. */
static struct graph *graphs_find_or_add(struct graphs *gs, struct graph **table, unsigned long long handle)
{
	struct graph *g = graphs_find(*table, handle);

	if (g || !handle)
		return g;
	if (gs->n == GRAPHS_MAX || !quota_take(gs->quota, gs->user, gs->pid, GRAPH_COST)) {
		gs->lost++;
		return NULL;
	}
	g = xcalloc(1, sizeof(*g));
	g->handle = handle;
	g->list = list_new();
	HASH_ADD(hh, *table, handle, sizeof(g->handle), g);
	gs->n++;
	return g;
}

/* Returns a new node at the end of a list that is the graph's own; NULL if there are too many. */
static struct graph_node *append_node(struct graphs *gs, struct graph *g, struct node_list *l)
{
	if (gs->nnodes == GRAPH_NODES_MAX || !quota_take(gs->quota, gs->user, gs->pid, NODE_COST)) {
		gs->lost++;
		g->partial = true;
		return NULL;
	}
	ALLOC_GROW(l->nodes, l->n, l->room);
	gs->nnodes++;
	l->changed = true;
	l->nodes[l->n] = (struct graph_node){ .work.kind = NODE_KIND_MAX };
	return &l->nodes[l->n++];
}

/* Most that are asked for were added last. */
static struct graph_node *find_node(const struct graph *g, unsigned long long handle)
{
	for (unsigned i = g->list->n; handle && i; i--)
		if (g->list->nodes[i - 1].handle == handle)
			return &g->list->nodes[i - 1];
	return NULL;
}

/* A child's nodes are listed again in each graph that has it: it counts as that many nodes. */
static void set_child(struct graphs *gs, struct graph *g, struct graph_node *node, struct graph_content *child)
{
	if (!child)
		return;
	if (gs->nnodes + child->n <= GRAPH_NODES_MAX)
		node->child = graph_content_get(child);
	if (node->child) {
		node->within = child->n;
		gs->nnodes += child->n;
	} else {
		gs->lost += child->n;
		g->partial = true;
	}
}

/* Appends them to a list that is the graph's own. */
static void append_nodes(struct graphs *gs, struct graph *g, struct node_list *to,
			 const struct node_list *from)
{
	for (unsigned i = 0; i < from->n; i++) {
		struct graph_node *node = append_node(gs, g, to);

		if (!node)
			return;
		*node = from->nodes[i];
		node->child = NULL;
		node->within = 0;
		kernel_get(node->work.kernel);
		set_child(gs, g, node, from->nodes[i].child);
	}
}

/* Call before nodes are added or changed. */
static void own(struct graphs *gs, struct graph *g)
{
	struct node_list *shared = g->list;

	if (shared->refs == 1)
		return;
	g->list = list_new();
	append_nodes(gs, g, g->list, shared);
	list_put(gs, shared);
}

static struct graph_node *add_node(struct graphs *gs, struct graph *g)
{
	own(gs, g);
	return append_node(gs, g, g->list);
}

static void copy_nodes(struct graphs *gs, struct graph *to, struct graph *from)
{
	to->partial |= from->partial;
	if (to->list->n) {
		own(gs, to);
		append_nodes(gs, to, to->list, from->list);
		return;
	}
	from->list->refs++;
	set_list(gs, to, from->list);
}

/* ---- Records */

static void set_node(struct graphs *gs, struct execution *p, struct graph *g, struct graph_node *node, const struct launch_node *e)
{
	const struct launch_key *key = &e->event.key;
	struct graph_work was = node->work, *work = &node->work;
	const bool disabled = node->disabled;
	struct graph_content *content;
	struct graph *child;

	node_clear(gs, node);
	node->disabled = disabled;	/* "unaffected by individual node update" (CUDA Programming Guide) */
	work->kind = key->kind < NODE_KIND_MAX ? key->kind : NODE_OTHER;
	work->count = 1;
	if (work->kind == LAUNCH_GRAPH) {
		child = graphs_find(gs->all, key->func);
		content = child ? content_of(gs, child) : NULL;
		set_child(gs, g, node, content);
		g->partial |= child && child->partial;	/* there was no room for its content */
		graph_content_put(content);
	} else if (graph_work_is_kernel(work)) {
		work->func = key->func;
		work->kernel = kernel_get(execution_kernel(p, key->func));
		memcpy(work->grid, e->grid, sizeof(e->grid));
		memcpy(work->block, e->block, sizeof(e->block));
	} else {
		work->func = work->kind == NODE_ALLOC || work->kind == NODE_FREE ? key->func : 0;
		work->device = work->kind == NODE_ALLOC ? key->device : 0;
		/* the runtime's call and the driver's in it: one of them may know less */
		work->bytes = e->bytes != ~0ull ? e->bytes : was.kind == NODE_COPY ? was.bytes : 0;
		work->direction = e->direction != CUDA_DEFAULT || was.kind != NODE_COPY ? e->direction : was.direction;
	}
}

/* A child's kernels may not be known: then those of the whole are not. */
static bool is_partial(const struct graphs *gs, const struct launch_key *key)
{
	const struct graph *child = key->kind == LAUNCH_GRAPH ? graphs_find(gs->all, key->func) : NULL;

	return key->kind == LAUNCH_GRAPH && (!child || child->partial);
}

static void on_captured(struct graphs *gs, struct execution *p, const struct launch_node *e)
{
	struct graph *g = graphs_find_or_add(gs, &gs->captures, e->event.subject);
	struct graph_node *node = g ? add_node(gs, g) : NULL;

	if (!node)
		return;
	g->partial |= is_partial(gs, &e->event.key);
	set_node(gs, p, g, node, e);
}

static void add_operation(struct graphs *gs, unsigned long long capture, const struct graph_work *operation)
{
	struct graph *g = graphs_find_or_add(gs, &gs->captures, capture);
	struct graph_node *node = g ? add_node(gs, g) : NULL;

	if (!node)
		return;
	node->work = *operation;
	node->work.kind = NODE_OPERATION;
	node->work.count = 1;
}

static void note_node(struct graphs *gs, struct graph *g, unsigned long long handle)
{
	struct graph_node_of *of = node_of(gs, handle);

	if (!of) {
		of = xcalloc(1, sizeof(*of));
		of->handle = handle;
		HASH_ADD(hh, gs->nodes, handle, sizeof(of->handle), of);
	}
	of->graph = g;
	g->indexed = true;
}

/* Returns the graph of a call about a node; NULL if it is not known. */
static struct graph *graph_of_node(struct graphs *gs, unsigned long long graph, unsigned long long node)
{
	struct graph_node_of *of;

	struct graph *g = graph ? graphs_find(gs->all, graph) : NULL;

	if (graph && !g) {	/* it was created before tracing began */
		g = graphs_find_or_add(gs, &gs->all, graph);
		if (g)
			g->partial = true;
	}
	if (graph)
		return g;
	of = node_of(gs, node);
	return of ? of->graph : NULL;
}

/* Returns a node that will be changed; NULL if there is none. */
static struct graph_node *change_node(struct graphs *gs, struct graph *g, unsigned long long handle)
{
	if (!find_node(g, handle))
		return NULL;
	own(gs, g);
	g->list->changed = true;
	return find_node(g, handle);	/* NULL: there was no room for all */
}

/* A node of an executable graph is known by the graph's: a captured one has no handle here, and stays as it was. */
static void on_node(struct graphs *gs, struct execution *p, const struct launch_node *e)
{
	const struct launch_event *v = &e->event;
	struct graph *g = v->object ? graph_of_node(gs, v->subject, v->object) : NULL;
	struct graph_node *node = g ? find_node(g, v->object) : NULL;

	if (!g || (!node && v->key.generation))
		return;
	if (!node) {
		node = add_node(gs, g);
		if (!node)
			return;
		node->handle = v->object;
		note_node(gs, g, v->object);
	} else {
		node = change_node(gs, g, v->object);
		if (!node)
			return;
	}
	g->partial |= is_partial(gs, &v->key);
	set_node(gs, p, g, node, e);
}

static void on_enabled(struct graphs *gs, const struct launch_event *e)
{
	struct graph *g = graphs_find(gs->all, e->subject);
	struct graph_node *node = g ? change_node(gs, g, e->object) : NULL;

	if (node)
		node->disabled = !e->owner;
}

static void on_node_gone(struct graphs *gs, const struct launch_event *e)
{
	struct graph *g = graph_of_node(gs, 0, e->object);
	struct graph_node *node = g ? change_node(gs, g, e->object) : NULL;

	if (!node)
		return;
	forget_node(gs, g, e->object);
	node_clear(gs, node);
	node->handle = 0;
}

/* The stack behind a record; NULL if it has none. */
static const struct stack *made_at(const struct graphs *gs, const struct launch_event *e, size_t size)
{
	size_t frames = e->head.frames;

	return gs->syms && frames && frames <= (size - sizeof(*e)) / 8 ?
	       stack_get(gs->syms, e->key.pid, ((const struct launch_first *)e)->stack, frames) : NULL;
}

/* The graph has what was captured, besides what it had if it existed. */
static void on_capture_ended(struct graphs *gs, const struct launch_event *e, size_t size)
{
	struct graph *from = graphs_find(gs->captures, e->subject), *to = graphs_find_or_add(gs, &gs->all, e->object);

	if (to && !e->owner)
		clear(gs, to);
	if (to) {
		to->time = e->time;
		to->made = made_at(gs, e, size);
	}
	if (to && from)
		copy_nodes(gs, to, from);
	if (from)
		graphs_drop(gs, &gs->captures, from);
}

/* A graph that was never seen was made before tracing began. */
static void on_copied(struct graphs *gs, const struct launch_event *e, size_t size)
{
	struct graph *from = graphs_find(gs->all, e->object), *to;

	if (!from && e->object) {
		to = graphs_find(gs->all, e->subject);
		if (to)
			graphs_drop(gs, &gs->all, to);
		return;
	}
	to = graphs_find_or_add(gs, &gs->all, e->subject);
	if (!to || to == from)
		return;
	clear(gs, to);
	to->time = e->time;
	to->made = from && from->made ? from->made : made_at(gs, e, size);
	if (from)
		copy_nodes(gs, to, from);
}

static void on_gone(struct graphs *gs, const struct launch_event *e)
{
	struct graph *g = graphs_find(gs->all, e->subject);

	if (g && g->time < e->time)
		graphs_drop(gs, &gs->all, g);
}

static void handle(struct graphs *gs, struct execution *p, const struct launch_event *e, size_t size)
{
	const bool whole = size >= sizeof(struct launch_node);

	if (e->head.kind == LAUNCH_CAPTURED && whole)
		on_captured(gs, p, (const struct launch_node *)e);
	else if (e->head.kind == LAUNCH_NODE && whole)
		on_node(gs, p, (const struct launch_node *)e);
	else if (e->head.kind == LAUNCH_NODE_ENABLED)
		on_enabled(gs, e);
	else if (e->head.kind == LAUNCH_NODE_GONE)
		on_node_gone(gs, e);
	else if (e->head.kind == LAUNCH_CAPTURE_ENDED)
		on_capture_ended(gs, e, size);
	else if (e->head.kind == LAUNCH_INSTANTIATED || e->head.kind == LAUNCH_CLONED)
		on_copied(gs, e, size);
	else if (e->head.kind == LAUNCH_GRAPH_GONE)
		on_gone(gs, e);
}

static void drop_all(struct graphs *gs)
{
	struct graph_content *c, *next;

	while (gs->captures)
		graphs_drop(gs, &gs->captures, gs->captures);
	while (gs->all)
		graphs_drop(gs, &gs->all, gs->all);
	HASH_ITER(hh, gs->contents, c, next) {	/* counters have them */
		HASH_DEL(gs->contents, c);
		c->table = NULL;
	}
}

/* A program can make graphs of thousands of nodes, and copies of them, at less cost than it is to follow them.  Returns false
 * if its user has no time left. */
static bool may_follow(struct graphs *gs, unsigned long long now)
{
	if (!gs->blind && (!gs->time || budget_left(gs->time, gs->user, now)))
		return true;
	if (!gs->blind)
		drop_all(gs);
	gs->blind = true;
	gs->lost++;
	return false;
}

static void followed(struct graphs *gs, unsigned long long since)
{
	if (gs->time)
		budget_charge(gs->time, gs->user, clock_ns() - since);
}

bool graphs_follow(struct graphs *gs)
{
	return may_follow(gs, clock_ns());
}

void graphs_record(struct graphs *gs, struct execution *p, const struct launch_event *e, size_t size)
{
	unsigned long long now = clock_ns();

	gs->captured |= e->head.kind == LAUNCH_CAPTURE_BEGAN;
	if (!may_follow(gs, now))
		return;
	handle(gs, p, e, size);
	followed(gs, now);
}

void graphs_captured(struct graphs *gs, unsigned long long capture, const struct graph_work *operation)
{
	unsigned long long now = clock_ns();

	if (!may_follow(gs, now))
		return;
	add_operation(gs, capture, operation);
	followed(gs, now);
}

void graphs_free(struct graphs *gs)
{
	drop_all(gs);
	*gs = (struct graphs){ .quota = gs->quota, .time = gs->time, .syms = gs->syms, .user = gs->user, .pid = gs->pid };
}
