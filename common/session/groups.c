/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include "base/clock.h"
#include "base/die.h"
#include "cli/out.h"
#include "inflight/inflight_view.h"
#include "session/groups.h"
#include "session/preexisting.h"
#include "view/stack_view.h"

void groups_check(void *ctx)
{
	struct groups *g = ctx;

	if (g->folded && g->aggregates.second)
		usage_error("--folded and --%s are mutually exclusive", g->second);
	g->pids |= g->folded || g->profile.path || g->session->json;
}

int groups_record(void *ctx, void *data, size_t size)
{
	struct groups *g = ctx;

	aggregate_record(&g->aggregates, data, size);
	return 0;
}

void groups_open(struct groups *g, struct bpf_object *obj)
{
	aggregate_prepare(&g->aggregates, obj, g->session->syms, &g->session->processes);
	g->session->processes.keeps_ended = true;
}

unsigned int groups_collect(struct groups *g, bool longest_first)
{
	unsigned int epoch = aggregate_flip(g->epoch);

	g->now = clock_ns();
	aggregate_collect(&g->aggregates, g->rest, epoch);
	g->all = aggregate_sorted(&g->aggregates, longest_first, &g->n);
	return epoch;
}

unsigned int groups_begin(struct groups *g, bool longest_first, const char *none)
{
	unsigned int epoch = groups_collect(g, longest_first);
	char text[64];

	inflight_collect(&g->inflight);
	if (out_is_json() || g->folded)
		return epoch;
	snprintf(text, sizeof(text), " no %s%s", g->noun, g->inflight.n ? " have ended" : "");
	preexisting_head(&g->session->processes, g->n ? "" : none ?: text, g->noun);
	return epoch;
}

struct call_stats groups_stats(const struct groups *g, const struct aggregate *group, bool second)
{
	struct call_stats s = call_stats_of(&g->aggregates, group, second);

	s.time = g->now;
	s.complete = process_is_complete(&g->session->processes, s.pid);
	s.container = g->pids ? process_container(&g->session->processes, s.pid) : NULL;
	return s;
}

bool groups_folded(struct groups *g, const struct call_stats *s, unsigned int device)
{
	if (s->count)
		profile_add(&g->profile, &(struct profile_event){
			s->pid, s->comm, s->func, s->stack, device, { s->total, s->count } });
	if (g->folded)
		folded_line(s->comm, s->stack, s->func, s->total);
	return g->folded;
}

void groups_clear(struct groups *g)
{
	free(g->all);
	g->all = NULL;
	g->n = 0;
	aggregate_clear(&g->aggregates);
}

void groups_end(struct groups *g)
{
	if (!g->folded)
		inflight_view(&g->inflight);
	groups_clear(g);
	process_tidy(&g->session->processes);
}

int groups_close(void *ctx, int status)
{
	struct groups *g = ctx;

	inflight_free(&g->inflight);
	free(g->all);
	aggregate_free(&g->aggregates);
	return status;
}
