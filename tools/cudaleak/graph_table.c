/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "abi/process.h"
#include "abi/record.h"
#include "base/clock.h"
#include "kernels/executions.h"
#include "cudaleak/graph_table.h"

struct graph_execution {
	struct execution program;
	struct graphs graphs;
};

static void free_graphs(struct execution *p)
{
	graphs_free(&((struct graph_execution *)p)->graphs);
}

void graph_table_init(struct graph_table *t, struct syms *syms)
{
	t->syms = syms;
	t->programs = executions_new(NULL, sizeof(struct graph_execution));	/* no kernels are named */
	t->programs->on_free = free_graphs;
	t->quota.limit = 64 << 20;
	t->quota.what = "nodes of CUDA graphs";
	t->quota.loss = "what further graphs do is not known";
}

void graph_table_free(struct graph_table *t)
{
	if (!t->programs)
		return;
	executions_free(t->programs);
	quota_free(&t->quota);
	budget_free(&t->time);
}

static struct graph_execution *execution_of(struct graph_table *t, unsigned long long id, int pid)
{
	struct graph_execution *p = (struct graph_execution *)executions_get(t->programs, id, pid);

	p->graphs.quota = &t->quota;
	p->graphs.time = t->quota.whole ? NULL : &t->time;
	p->graphs.syms = t->syms;
	p->graphs.user = p->program.user;
	p->graphs.pid = pid;
	return p;
}

void graph_table_record(struct graph_table *t, const struct launch_event *e, size_t size)
{
	struct graph_execution *p;
	unsigned long long lost;

	if (size < sizeof(*e))
		return;
	p = execution_of(t, e->key.program, e->key.pid);
	lost = p->graphs.lost;
	graphs_record(&p->graphs, &p->program, e, size);
	t->lost += p->graphs.lost - lost;
	if (e->head.kind == LAUNCH_CAPTURE_ENDED)
		captures_drop_ended(&t->captures);
}

void graph_table_ended(void *table, const struct process_event *e)
{
	struct graph_table *t = table;
	struct execution *p = e->head.kind == RECORD_FORK ? NULL : executions_find(t->programs, e->program);

	if (!p)
		return;
	if (((struct graph_execution *)p)->graphs.captured)
		captures_drop_program(&t->captures, p->id);
	execution_end(p);
}

struct graph_now graph_table_now(struct graph_table *t, unsigned long long program, unsigned long long exec)
{
	struct execution *p = executions_find(t->programs, program);

	if (!p)
		return (struct graph_now){ 0 };
	if (!t->quota.whole && !budget_left(&t->time, p->user, clock_ns())) {
		t->lost++;
		return (struct graph_now){ 0 };
	}
	return graphs_now(&((struct graph_execution *)p)->graphs, exec);
}

void graph_table_charge(struct graph_table *t, unsigned long long program, unsigned long long began)
{
	struct execution *p = executions_find(t->programs, program);

	if (p && !t->quota.whole)
		budget_charge(&t->time, p->user, clock_ns() - began);
}
