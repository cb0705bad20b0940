/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "base/util.h"
#include "cli/hist.h"
#include "cli/out.h"
#include "cli/row.h"
#include "model/call_stats.h"
#include "view/call_view.h"
#include "view/columns.h"

void call_stats_text(const struct call_stats *s)
{
	const struct hist_totals totals = { s->count, s->total, s->times };

	if (s->pid) {
		process_text(s->pid, s->comm, s->container);
		fputs(", ", stdout);
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
	struct hist_totals totals = { .count = s->count, .total = s->bytes };

	if (s->min_bytes == OUT_NONE)
		return;
	totals.spread = hist_spread(s->hist_bytes, s->min_bytes, s->max_bytes);
	hist_table(&totals, OUT_UNIT_BYTES);
	hist_text(s->hist_bytes, OUT_UNIT_BYTES);
}
