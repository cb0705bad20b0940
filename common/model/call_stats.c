/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "abi/aggregate_group.h"
#include "api/cuda_fn.h"
#include "base/clock.h"
#include "base/log2_hist.h"
#include "base/util.h"
#include "model/call_stats.h"
#include "proc/process_table.h"

void call_stats_start(struct call_stats_set *set)
{
	set->since = clock_ns();
}

struct call_stats call_stats_of(const struct aggregate *g)
{
	return (struct call_stats){
		.pid = g->key.pid, .comm = g->comm, .func = cuda_fn_of(g->key.key)->name,
		.stack = g->key.stack, .calls = g->count + g->failed, .failed = g->failed,
		.count = g->count, .total = g->sum, .mean = g->count ? g->sum / g->count : NO_VALUE,
		.times = hist_spread(&g->hist, g->least, g->most),
		.hist = &g->hist, .bytes = NO_VALUE, .min_bytes = NO_VALUE, .max_bytes = NO_VALUE,
	};
}

static void add_bytes(struct call_stats *s, const struct call_stats_set *set,
		      const struct aggregate *g)
{
	static const struct hist none;
	const struct aggregate *bytes = aggregate_series(&set->aggregates, g, CALLS_BYTES);

	s->hist_bytes = &none;
	if (!cuda_fn_has_bytes(cuda_fn_of(g->key.key)))
		return;
	s->bytes = g->ns;
	if (bytes && bytes->count) {
		s->hist_bytes = &bytes->hist;
		s->min_bytes = bytes->least;
		s->max_bytes = bytes->most;
	}
}

static void forget_rows(struct call_stats_set *set)
{
	while (set->n)
		free((char *)set->rows[--set->n].comm);
}

struct call_stats *call_stats_take(struct call_stats_set *set, struct bpf_map *aggregates,
				   volatile unsigned int *epoch, bool longest_first, size_t *n)
{
	unsigned long long now, since = set->since;
	struct aggregate **list;

	aggregate_collect(&set->aggregates, aggregates, aggregate_flip(epoch));
	now = clock_ns();
	forget_rows(set);
	list = aggregate_sorted(&set->aggregates, longest_first, &set->n);
	set->rows = xrealloc(set->rows, set->n + 1, sizeof(*set->rows));
	for (size_t i = 0; i < set->n; i++) {
		struct call_stats *s = &set->rows[i];

		*s = call_stats_of(list[i]);
		add_bytes(s, set, list[i]);
		s->comm = xstrdup(s->comm);
		s->time = now;
		s->interval = (now - since) / 1e9;
		s->complete = process_is_complete(set->aggregates.processes, s->pid);
		s->rate = now > since ? s->calls / s->interval : 0;
	}
	free(list);
	set->since = now;
	*n = set->n;
	return set->rows;
}

void call_stats_free(struct call_stats_set *set)
{
	forget_rows(set);
	free(set->rows);
	aggregate_free(&set->aggregates);
}

void call_stats_record(struct call_stats_set *set, const void *record, size_t size, bool bytes)
{
	struct aggregates *aggregates = &set->aggregates;
	const struct aggregate_record *r = record;

	if (aggregate_record(aggregates, r, size) && bytes && r->head.kind == AGGREGATE_CALL)
		aggregate_add_value(aggregate_of(aggregates, r, CALLS_BYTES), r->ns, 0, r->ns);
}
