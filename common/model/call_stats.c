/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "model/call_stats.h"
#include "abi/call_aggregate.h"
#include "base/clock.h"
#include "api/cuda_fn.h"
#include "base/die.h"
#include "base/escape.h"
#include "model/aggregate.h"
#include "cli/hist.h"
#include "cli/out.h"

static unsigned long long since;

void call_stats_start(void)
{
	since = clock_ns();
}

struct call_stats call_stats_of(const struct aggregate *g)
{
	struct call_stats s = {
		.pid = g->key.pid, .comm = g->comm, .func = cuda_fns[g->key.key].name,
		.stack = g->key.stack, .calls = g->count + g->failed, .failed = g->failed,
		.count = g->count, .total = g->sum, .mean = OUT_NONE, .min = OUT_NONE,
		.max = OUT_NONE, .p50 = OUT_NONE, .p95 = OUT_NONE, .p99 = OUT_NONE,
		.hist = g->slots, .bytes = OUT_NONE, .min_bytes = OUT_NONE, .max_bytes = OUT_NONE,
	};

	if (g->count) {
		s.mean = g->sum / g->count;
		s.min = g->least;
		s.max = g->most;
		s.p50 = hist_percentile(g->slots, 50, g->least, g->most);
		s.p95 = hist_percentile(g->slots, 95, g->least, g->most);
		s.p99 = hist_percentile(g->slots, 99, g->least, g->most);
	}
	return s;
}

static void add_bytes(struct call_stats *s, const struct aggregate *g)
{
	static const unsigned long long none[HIST_SLOTS];
	const struct aggregate *bytes = aggregate_series(g, CALLS_BYTES);

	s->hist_bytes = none;
	if (!cuda_fn_has_bytes(&cuda_fns[g->key.key]))
		return;
	s->bytes = g->ns;
	if (bytes && bytes->count) {
		s->hist_bytes = bytes->slots;
		s->min_bytes = bytes->least;
		s->max_bytes = bytes->most;
	}
}

struct call_stats *call_stats_take(struct bpf_map *aggregates, volatile unsigned int *epoch,
				   bool longest_first, size_t *n)
{
	static struct call_stats *stats;
	static size_t had;
	unsigned long long now;
	struct aggregate **list;

	aggregate_collect(aggregates, aggregate_flip(epoch));
	now = clock_ns();
	while (had)
		free((char *)stats[--had].comm);
	list = aggregate_sorted(longest_first, &had);
	stats = xrealloc(stats, had + 1, sizeof(*stats));
	for (size_t i = 0; i < had; i++) {
		stats[i] = call_stats_of(list[i]);
		add_bytes(&stats[i], list[i]);
		stats[i].comm = xstrdup(stats[i].comm);
		stats[i].time = now;
		stats[i].interval = (now - since) / 1e9;
		stats[i].rate = now > since ? stats[i].calls / stats[i].interval : 0;
	}
	free(list);
	since = now;
	*n = had;
	return stats;
}

void call_stats_record(const struct aggregate_record *r, bool bytes)
{
	aggregate_record(r);
	if (bytes && r->head.kind == AGGREGATE_CALL)
		aggregate_add_value(aggregate_of(r, CALLS_BYTES), r->ns, 0, r->ns);
}

static void text_of_times(const struct call_stats *s)
{
	printf(", %s in all, ", out_ns(s->total));
	printf("%s to %s, ", out_ns(s->min), out_ns(s->max));
	printf("half within %s, 95 %% within %s, 99 %% within %s", out_ns(s->p50), out_ns(s->p95),
	       out_ns(s->p99));
}

void call_stats_text(const struct call_stats *s)
{
	if (s->pid) {
		printf("pid %d (", s->pid);
		escape_text(stdout, s->comm);
		printf("), ");
	}
	printf("%s: %llu call%s", s->func, s->count, s->count == 1 ? "" : "s");
	if (s->count)
		text_of_times(s);
	if (s->failed)
		printf("; %llu more failed", s->failed);
	putchar('\n');
	hist_text(s->hist, "nsecs", 0);
}

void call_stats_text_of_bytes(const struct call_stats *s)
{
	if (s->min_bytes == OUT_NONE)
		return;
	printf("%s, %llu", out_bytes(s->bytes), s->min_bytes);
	if (s->min_bytes != s->max_bytes)
		printf(" to %llu", s->max_bytes);
	puts(" bytes each");
	hist_text(s->hist_bytes, "bytes", 0);
}
