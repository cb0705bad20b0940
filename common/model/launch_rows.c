/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "model/launches.h"
#include "sym/stack.h"

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

static struct launch_row *row_of(struct row_gathering *g, struct counter *c)
{
	bool by_process = g->by == LAUNCHES_BY_PROCESS;
	const struct kernel *k = by_process ? NULL : counter_kernel(c);
	struct row_index *i, want;

	memset(&want, 0, sizeof(want));
	want.key.program = c->program;
	want.key.device = c->key.device;
	want.key.stream = c->key.stream;
	if (!by_process) {
		want.key.name = !k ? NULL : g->by == LAUNCHES_BY_FULL ? k->full : k->brief;
		want.key.func = k ? 0 : counter_func(c);
		want.key.stack = stack_shown(c->stack);
		want.key.kind = c->key.kind;
	}
	HASH_FIND(hh, g->indexes, &want.key, sizeof(want.key), i);
	if (i)
		return &g->rows[i->at];
	if (g->n == g->room) {
		g->room = g->room ? 2 * g->room : 64;
		g->rows = xrealloc(g->rows, g->room, sizeof(*g->rows));
	}
	i = xcalloc(1, sizeof(*i));
	i->key = want.key;
	i->at = g->n;
	HASH_ADD(hh, g->indexes, key, sizeof(i->key), i);
	g->rows[g->n] = (struct launch_row){
		.program = &c->program->program, .pid = c->program->program.pid, .device = c->key.device, .stream = c->key.stream,
		.comm = c->program->comm, .kernel = k,
		.func = by_process ? 0 : counter_func(c), .stack = want.key.stack,
		.kind = by_process ? -1 : (int)c->key.kind,
	};
	return &g->rows[g->n++];
}

static void gather(struct row_gathering *g, struct counter *c)
{
	struct launch_row *r;

	if (!c->total.launches)
		return;
	r = row_of(g, c);
	tally_add(&r->last, &c->last);
	tally_add(&r->total, &c->total);
	if (c->seen.time < r->time)
		return;
	r->time = c->seen.time;
	if (g->by == LAUNCHES_BY_PROCESS)
		return;
	memcpy(r->grid, c->seen.grid, sizeof(r->grid));
	memcpy(r->block, c->seen.block, sizeof(r->block));
}

struct launch_row *launches_rows(const struct launches *l, enum launches_by by, size_t *n)
{
	struct row_gathering g = { .by = by };
	struct row_index *i, *next;
	struct counter *c;

	for (c = l->counters.all; c; c = c->hh.next)
		gather(&g, c);
	for (c = l->counters.retired; c; c = c->hh.next)
		gather(&g, c);
	HASH_ITER(hh, g.indexes, i, next) {
		HASH_DEL(g.indexes, i);
		free(i);
	}
	*n = g.n;
	return g.rows;
}
