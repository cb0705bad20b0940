/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "base/escape.h"
#include "base/plural.h"
#include "cli/hist.h"
#include "cli/out.h"
#include "cli/row.h"
#include "model/call_stats.h"
#include "view/call_view.h"

static struct hist_totals totals_of(const struct call_stats *s)
{
	return (struct hist_totals){
		.count = s->count, .total = s->total, .min = s->min, .p50 = s->p50, .p95 = s->p95, .p99 = s->p99,
		.max = s->max,
	};
}

void call_stats_text(const struct call_stats *s)
{
	const struct hist_totals totals = totals_of(s);

	if (s->pid) {
		printf("pid %d (", s->pid);
		escape_text(stdout, s->comm);
		printf(s->container ? ") in container %s, " : "), ", s->container);
	}
	printf("%s", s->func);
	if (s->failed)
		printf(": %llu call%s failed", s->failed, plural(s->failed));
	putchar('\n');
	if (!s->count)
		return;
	hist_table(&totals, OUT_UNIT_NS);
	hist_text(s->hist, OUT_UNIT_NS);
}

void call_stats_text_of_bytes(const struct call_stats *s)
{
	struct hist_totals totals = { .count = s->count, .total = s->bytes, .min = s->min_bytes, .max = s->max_bytes };

	if (s->min_bytes == OUT_NONE)
		return;
	totals.p50 = hist_percentile(s->hist_bytes, 50, s->min_bytes, s->max_bytes);
	totals.p95 = hist_percentile(s->hist_bytes, 95, s->min_bytes, s->max_bytes);
	totals.p99 = hist_percentile(s->hist_bytes, 99, s->min_bytes, s->max_bytes);
	hist_table(&totals, OUT_UNIT_BYTES);
	hist_text(s->hist_bytes, OUT_UNIT_BYTES);
}
