/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "base/die.h"
#include "base/hash.h"
#include "nccl/communicators.h"
#include "ncclhang/hang.h"
#include "ncclhang/hang_report.h"
#include "ncclhang/messages.h"
#include "ncclhang/wait_graph.h"

const char *const cause_words[CAUSE_KINDS] = { "root", "circle", "communicator" };

/* A process: pids of several hosts may be alike. */
struct place {
	struct place_key { const char *host; int pid, unused; } key;
	size_t node;
	unsigned long long front;	/* when the first collective that is pending was called, ns */
	const struct hang *front_in;	/* NULL: none is */
	bool elsewhere;			/* it waits in a communicator to which not all ranks have come */
	UT_hash_handle hh;
};

/* from and to are nodes, of h one is the communicator itself unless it is a message. */
struct edge {
	size_t from, to;
	const struct hang *h;
	const struct hang_rank *a, *b;	/* of the processes; of a communicator NULL */
	bool perhaps;			/* it is not known for whom it waits */
};

struct graph {
	const struct hangs *h;
	struct place *places;
	size_t nplaces, n;		/* nodes: processes first, then the communicators */
	struct edge *edges;
	size_t nedges, room;
	size_t *out, *in;		/* edges by from, and by to … */
	size_t *out_at, *in_at;		/* … the first one of each node */
	const struct hang *now;		/* whose edges are added */
	size_t *part;			/* of each node: the strongly connected part that it is in */
	size_t nparts;
	/* of come_back(): the edge by which each node is reached, and nodes */
	const struct edge **by;
	size_t *queue;
	size_t *roots;			/* of each communicator, the number of the cause with its roots, from 1 on; or 0 */
};

/* ---- Nodes and edges */

static struct place *place_of(const struct graph *g, const struct hang_rank *r)
{
	struct place_key key = { .host = r->report ? r->report->host : NULL, .pid = r->pid };
	struct place *p;

	HASH_FIND(hh, g->places, &key, sizeof(key), p);
	return p;
}

static void add_place(struct graph *g, const struct hang_rank *r)
{
	struct place *p = place_of(g, r);

	if (p)
		return;
	p = xcalloc(1, sizeof(*p));
	p->key.host = r->report ? r->report->host : NULL;
	p->key.pid = r->pid;
	p->node = g->nplaces++;
	HASH_ADD(hh, g->places, key, sizeof(p->key), p);
}

static size_t group_node(const struct graph *g, const struct hang *h)
{
	return g->nplaces + (h - g->h->all);
}

static void add_edge(struct graph *g, struct edge e)
{
	ALLOC_GROW(g->edges, g->nedges, g->room);
	g->edges[g->nedges++] = e;
}

static void waits_in(struct graph *g, const struct hang *h, const struct hang_rank *r, bool perhaps)
{
	add_edge(g, (struct edge){ .from = place_of(g, r)->node, .to = group_node(g, h), .h = h, .a = r, .perhaps = perhaps });
}

static void waits_for(struct graph *g, const struct hang *h, const struct hang_rank *r, bool perhaps)
{
	add_edge(g, (struct edge){ .from = group_node(g, h), .to = place_of(g, r)->node, .h = h, .b = r, .perhaps = perhaps });
}

static void add_message(void *ctx, const struct unmatched *u)
{
	struct graph *g = ctx;

	add_edge(g, (struct edge){
		.from = place_of(g, u->rank)->node, .to = place_of(g, u->peer)->node, .h = g->now, .a = u->rank, .b = u->peer });
}

static void find_fronts(struct graph *g, const struct hang *h)
{
	for (size_t i = 0; i < h->n; i++) {
		const struct hang_rank *r = &h->ranks[i];
		struct place *p = place_of(g, r);

		if (!hang_waits(r) || r->culprit)
			continue;
		p->elsewhere |= h->verdict != HANG_PENDING;
		if (h->verdict != HANG_PENDING || r->report || !r->first || r->complete != COMPLETE_NOT)
			continue;
		if (p->front_in && p->front <= r->first->time)
			continue;
		p->front = r->first->time;
		p->front_in = h;
	}
}

static bool is_known(const struct hang *h)
{
	bool known = false;

	for (size_t i = 0; i < h->n; i++)
		known |= h->ranks[i].report || h->ranks[i].call || h->ranks[i].complete == COMPLETE_NOT;
	return known && h->whole;
}

/* All ranks have called it: one that waits for what it called before in another communicator has not come to it on the GPU. */
static void add_pending(struct graph *g, const struct hang *h)
{
	bool known = is_known(h);

	for (size_t i = 0; i < h->n; i++) {
		const struct hang_rank *r = &h->ranks[i];
		const struct place *p = place_of(g, r);
		bool before = known && p->front_in && p->front_in != h;

		if (!hang_waits(r))
			continue;
		if (!before)
			waits_in(g, h, r, !known);
		if (!known || before || p->elsewhere)
			waits_for(g, h, r, !before);
	}
}

static void add_group(struct graph *g, const struct hang *h)
{
	g->now = h;
	if (h->verdict == HANG_PENDING) {
		add_pending(g, h);
		return;
	}
	for (size_t i = 0; i < h->n; i++) {
		const struct hang_rank *r = &h->ranks[i];

		if (h->verdict == HANG_MESSAGE)	/* so that it is in the report of what they wait for */
			waits_for(g, h, r, true);
		else if (h->verdict != HANG_MISMATCH && r->culprit)
			waits_for(g, h, r, false);
		else if (hang_waits(r))
			waits_in(g, h, r, false);
		if (h->verdict == HANG_BEHIND || h->verdict == HANG_MESSAGE)
			messages_each(h, r, add_message, g);
	}
}

static size_t *sort_edges(const struct graph *g, bool by_to, size_t **at)
{
	size_t *sorted = xcalloc(g->nedges + 1, sizeof(*sorted)), *first = xcalloc(g->n + 2, sizeof(*first));

	for (size_t i = 0; i < g->nedges; i++)
		first[2 + (by_to ? g->edges[i].to : g->edges[i].from)]++;
	for (size_t i = 2; i < g->n + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < g->nedges; i++)
		sorted[first[1 + (by_to ? g->edges[i].to : g->edges[i].from)]++] = i;
	*at = first;
	return sorted;
}

static void build(struct graph *g)
{
	for (size_t i = 0; i < g->h->n; i++)
		for (size_t k = 0; k < g->h->all[i].n; k++)
			add_place(g, &g->h->all[i].ranks[k]);
	g->n = g->nplaces + g->h->n;
	for (size_t i = 0; i < g->h->n; i++)
		if (hang_is_hung(&g->h->all[i]))
			find_fronts(g, &g->h->all[i]);
	for (size_t i = 0; i < g->h->n; i++)
		if (hang_is_hung(&g->h->all[i]))
			add_group(g, &g->h->all[i]);
	g->out = sort_edges(g, false, &g->out_at);
	g->in = sort_edges(g, true, &g->in_at);
	g->by = xcalloc(g->n + 1, sizeof(*g->by));
	g->queue = xcalloc(g->n + 1, sizeof(*g->queue));
	g->roots = xcalloc(g->h->n + 1, sizeof(*g->roots));
}

static void free_graph(struct graph *g)
{
	HASH_FREE(g->places);
	free(g->edges);
	free(g->out);
	free(g->in);
	free(g->out_at);
	free(g->in_at);
	free(g->part);
	free(g->by);
	free(g->queue);
	free(g->roots);
}

/* ---- Strongly connected parts: Tarjan's algorithm, without recursion, as a chain may be long */

struct visit { size_t index, low, next; bool open; };

struct search { struct visit *of; size_t *path, npath, *open, nopen, index; };

static void enter(struct search *s, const struct graph *g, size_t node)
{
	s->index++;
	s->of[node] = (struct visit){ s->index, s->index, g->out_at[node], true };
	s->path[s->npath++] = node;
	s->open[s->nopen++] = node;
}

static void leave(struct search *s, struct graph *g, size_t node)
{
	size_t other;

	s->npath--;
	if (s->npath && s->of[s->path[s->npath - 1]].low > s->of[node].low)
		s->of[s->path[s->npath - 1]].low = s->of[node].low;
	if (s->of[node].low != s->of[node].index)
		return;
	do {
		other = s->open[--s->nopen];
		s->of[other].open = false;
		g->part[other] = g->nparts;
	} while (other != node);
	g->nparts++;
}

static void find_parts(struct graph *g)
{
	struct search s = {
		.of = xcalloc(g->n + 1, sizeof(*s.of)), .path = xcalloc(g->n + 1, sizeof(*s.path)),
		.open = xcalloc(g->n + 1, sizeof(*s.open)),
	};

	g->part = xcalloc(g->n + 1, sizeof(*g->part));
	for (size_t start = 0; start < g->n; start++) {
		if (s.of[start].index)
			continue;
		enter(&s, g, start);
		while (s.npath) {
			size_t node = s.path[s.npath - 1], to;
			struct visit *v = &s.of[node];

			if (v->next == g->out_at[node + 1]) {
				leave(&s, g, node);
				continue;
			}
			to = g->edges[g->out[v->next++]].to;
			if (!s.of[to].index)
				enter(&s, g, to);
			else if (s.of[to].open && s.of[to].index < v->low)
				v->low = s.of[to].index;
		}
	}
	free(s.of);
	free(s.path);
	free(s.open);
}

/* ---- Causes: the parts that no edge leaves */

enum { TRIED = 64 };		/* processes of a circle from which the shortest one is looked for */

static void add_step(struct cause *c, struct wait_step step)
{
	c->steps = xrealloc(c->steps, c->n + 1, sizeof(*c->steps));
	c->steps[c->n++] = step;
}

/* Sets the edge by which each node of the part is reached from one; returns the edge that comes back, or NULL. */
static const struct edge *come_back(const struct graph *g, size_t from)
{
	size_t n = 0;

	g->queue[n++] = from;
	for (size_t at = 0; at < n; at++) {
		for (size_t i = g->out_at[g->queue[at]]; i < g->out_at[g->queue[at] + 1]; i++) {
			const struct edge *e = &g->edges[g->out[i]];

			if (e->perhaps)
				continue;
			if (e->to == from)
				return e;
			if (g->by[e->to])
				continue;
			g->by[e->to] = e;
			g->queue[n++] = e->to;
		}
	}
	return NULL;
}

/* Takes the steps of a circle whose last edge is this one. */
static void take_circle(const struct graph *g, struct cause *c, const struct edge *last, size_t from)
{
	const struct edge **edges, *e = last;
	size_t n = 1;

	for (; e->from != from; e = g->by[e->from])
		n++;
	edges = xcalloc(n, sizeof(*edges));
	e = last;
	for (size_t i = n; i--; e = g->by[e->from])
		edges[i] = e;
	for (size_t i = 0; i < n; i++) {
		e = edges[i];
		if (e->to >= g->nplaces)	/* to a communicator, and on to a rank of it */
			add_step(c, (struct wait_step){ e->h, e->a, edges[++i]->b, false });
		else
			add_step(c, (struct wait_step){ e->h, e->a, e->b, true });
	}
	free(edges);
}

/* Of processes that wait for each other: the shortest circle, if it is known for whom they wait. */
static void find_circle(const struct graph *g, struct cause *c, const size_t *nodes, size_t n)
{
	size_t tried = 0;

	for (size_t i = 0; i < n && nodes[i] < g->nplaces && tried < TRIED && c->n != 2; i++, tried++) {
		struct cause found = { 0 };
		const struct edge *last;

		for (size_t k = 0; k < n; k++)
			g->by[nodes[k]] = NULL;
		last = come_back(g, nodes[i]);
		if (last)
			take_circle(g, &found, last, nodes[i]);
		if (!found.n || (c->n && found.n >= c->n)) {
			free(found.steps);
			continue;
		}
		free(c->steps);
		c->steps = found.steps;
		c->n = found.n;
	}
}

/* Of what its ranks wait for in several communicators: in the one that has not come, before one of another verdict. */
static const struct edge *why(const struct graph *g, size_t node)
{
	const struct edge *best = NULL;

	for (size_t i = g->in_at[node]; i < g->in_at[node + 1]; i++) {
		const struct edge *e = &g->edges[g->in[i]];

		if (e->h->verdict == HANG_MESSAGE && e->perhaps)
			continue;
		if (!best || (best->h->verdict != HANG_BEHIND && e->h->verdict == HANG_BEHIND))
			best = e;
	}
	return best;
}

/* Return true for a communicator that hangs, and of which it is not known for whom it waits. */
static bool is_end(const struct graph *g, size_t node)
{
	if (node < g->nplaces || !hang_is_hung(&g->h->all[node - g->nplaces]))
		return false;
	for (size_t i = g->out_at[node]; i < g->out_at[node + 1]; i++)
		if (!g->edges[g->out[i]].perhaps)
			return false;
	return true;
}

/* Returns a part's cause; its n is 0 if there is none. */
static struct cause cause_of(const struct graph *g, const size_t *nodes, size_t n)
{
	struct cause c = { .kind = CAUSE_GROUP };
	const struct edge *e;

	if (n == 1 && *nodes < g->nplaces) {
		e = why(g, *nodes);
		c.kind = CAUSE_ROOT;
		if (e)
			add_step(&c, (struct wait_step){ .h = e->h, .to = e->b, .message = e->a && e->b });
		return c;
	}
	if (n > 1) {
		find_circle(g, &c, nodes, n);
		c.kind = c.n ? CAUSE_CIRCLE : CAUSE_GROUP;
	}
	for (size_t i = 0; i < n && !c.n; i++)
		if (is_end(g, nodes[i]))
			add_step(&c, (struct wait_step){ .h = &g->h->all[nodes[i] - g->nplaces] });
	return c;
}

/* Nodes that reach a part by their edges.  LEFT: nodes that may be visited for all causes. */
enum { LEFT = 1 << 23 };

struct nodes { const size_t *at; size_t n; };

struct reach { size_t *queue, *round, left; bool *taken; };

static void find_waiting(const struct graph *g, struct cause *c, struct nodes part, struct reach *r, size_t round)
{
	size_t end = 0;

	for (size_t i = 0; i < c->n && c->kind == CAUSE_ROOT; i++)
		r->queue[end++] = place_of(g, c->steps[i].to)->node;
	for (size_t i = 0; i < part.n && c->kind != CAUSE_ROOT; i++)
		r->queue[end++] = part.at[i];
	for (size_t i = 0; i < end; i++)
		r->round[r->queue[i]] = round;
	for (size_t at = 0; at < end; at++) {
		size_t node = r->queue[at];

		c->waiting += node < g->nplaces;
		if (node >= g->nplaces && !r->taken[node]) {
			r->taken[node] = true;
			c->groups = xrealloc(c->groups, c->ngroups + 1, sizeof(*c->groups));
			c->groups[c->ngroups++] = &g->h->all[node - g->nplaces];
		}
		for (size_t i = g->in_at[node]; i < g->in_at[node + 1] && r->left; i++) {
			size_t from = g->edges[g->in[i]].from;

			r->left--;
			if (r->round[from] == round)
				continue;
			r->round[from] = round;
			r->queue[end++] = from;
		}
	}
	c->waiting -= c->kind == CAUSE_ROOT ? c->n : 0;
}

/* Collectives that all ranks have reached come last: they tell least. */
static int by_place(const void *a, const void *b)
{
	const struct hang *const *p = a, *const *q = b;
	bool last = (*p)->verdict == HANG_PENDING;

	if (last != ((*q)->verdict == HANG_PENDING))
		return last ? 1 : -1;
	return (*p > *q) - (*p < *q);
}

static int most_first(const void *a, const void *b)
{
	const struct cause *p = a, *q = b;

	if (p->waiting != q->waiting)
		return p->waiting > q->waiting ? -1 : 1;
	return (p->steps->h > q->steps->h) - (p->steps->h < q->steps->h);
}

/* Returns the nodes part by part, and where those of each part begin. */
static size_t *sort_nodes(const struct graph *g, size_t **at)
{
	size_t *sorted = xcalloc(g->n + 1, sizeof(*sorted)), *first = xcalloc(g->nparts + 2, sizeof(*first));

	for (size_t i = 0; i < g->n; i++)
		first[2 + g->part[i]]++;
	for (size_t i = 2; i < g->nparts + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < g->n; i++)
		sorted[first[1 + g->part[i]]++] = i;
	*at = first;
	return sorted;
}

/* Roots that the same communicator waits for are one cause. */
static void add_cause(const struct graph *g, struct causes *to, struct cause c, size_t part)
{
	size_t *known;

	if (!c.n)
		return;
	c.part = part;
	known = &g->roots[c.steps->h - g->h->all];
	if (c.kind != CAUSE_ROOT || !*known) {
		to->all[to->n++] = c;
		*known = c.kind == CAUSE_ROOT ? to->n : *known;
		return;
	}
	add_step(&to->all[*known - 1], *c.steps);
	free(c.steps);
}

static void find_causes(const struct graph *g, struct causes *to)
{
	bool *leaves = xcalloc(g->nparts + 1, sizeof(*leaves));
	size_t *at, *nodes = sort_nodes(g, &at);
	struct reach r = {
		.queue = xcalloc(g->n + 1, sizeof(*r.queue)), .round = xcalloc(g->n + 1, sizeof(*r.round)), .left = LEFT,
		.taken = xcalloc(g->n + 1, sizeof(*r.taken)),
	};

	for (size_t i = 0; i < g->nedges; i++)
		leaves[g->part[g->edges[i].from]] |= g->part[g->edges[i].from] != g->part[g->edges[i].to];
	to->all = xcalloc(g->nparts + 1, sizeof(*to->all));
	for (size_t part = 0; part < g->nparts; part++)
		if (!leaves[part])
			add_cause(g, to, cause_of(g, nodes + at[part], at[part + 1] - at[part]), part);
	for (size_t i = 0; i < to->n; i++) {
		struct cause *c = &to->all[i];

		find_waiting(g, c, (struct nodes){ nodes + at[c->part], at[c->part + 1] - at[c->part] }, &r, i + 1);
		if (c->ngroups)
			qsort(c->groups, c->ngroups, sizeof(*c->groups), by_place);
	}
	if (to->n)
		qsort(to->all, to->n, sizeof(*to->all), most_first);
	free(leaves);
	free(at);
	free(nodes);
	free(r.queue);
	free(r.round);
	free(r.taken);
}

struct causes causes_find(const struct hangs *h)
{
	struct causes c = { 0 };
	struct graph g = { .h = h };

	build(&g);
	find_parts(&g);
	find_causes(&g, &c);
	free_graph(&g);
	return c;
}

void causes_free(struct causes *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->all[i].steps);
		free(c->all[i].groups);
	}
	free(c->all);
	*c = (struct causes){ 0 };
}
