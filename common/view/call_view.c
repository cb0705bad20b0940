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

void call_stats_text_of_second(const struct call_stats *s, enum out_unit unit)
{
	const struct hist_totals totals = { s->count, s->second, s->second_spread };

	hist_table(&totals, unit);
	hist_text(s->second_hist, unit);
}
