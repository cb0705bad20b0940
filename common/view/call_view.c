/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "base/escape.h"
#include "base/plural.h"
#include "cli/hist.h"
#include "cli/out.h"
#include "cli/row.h"
#include "model/call_stats.h"
#include "view/call_view.h"

static void text_of_times(const struct call_stats *s)
{
	printf(", %s total, ", out_ns(s->total));
	printf("%s to %s, ", out_ns(s->min), out_ns(s->max));
	printf("p50 %s, p95 %s, p99 %s", out_ns(s->p50), out_ns(s->p95),
	       out_ns(s->p99));
}

void call_stats_text(const struct call_stats *s)
{
	if (s->pid) {
		printf("pid %d (", s->pid);
		escape_text(stdout, s->comm);
		printf("), ");
	}
	printf("%s: %llu call%s", s->func, s->count, plural(s->count));
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
