/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/escape.h"
#include "cli/out.h"
#include "cudaleak/leak_line.h"
#include "view/stack_view.h"

static int comm_width(bool narrow)
{
	return narrow ? 10 : 15;
}

void leak_line_rate(FILE *f, int width, long long bytes, double interval)
{
	fprintf(f, "%*s", width, out_change(interval > 0 ? bytes / interval : 0));
}

void leak_line_head(FILE *f, const struct leak_options *options, bool narrow)
{
	fprintf(f, "%-7s %-*s %10s %10s %11s %8s", "PID", comm_width(narrow), "COMM", "HELD", "PEAK",
		"GROWTH/S", "COUNT");
	if (!narrow)
		fprintf(f, " %9s", "OLDEST");
	if (options->by != LEAK_BY_PROCESS)
		fprintf(f, " %-7s", "MEMORY");
	if (options->by == LEAK_BY_STACK)
		fputs(" STACK", f);
}

void leak_line(FILE *f, const struct leak_group *g, const struct leak_options *options, double interval,
	       bool narrow)
{
	fprintf(f, "%-7d ", g->process->pid);
	fprintf(f, "%*s", comm_width(narrow) - escape_text(f, g->process->comm), "");
	fprintf(f, " %10s %10s ", out_bytes(g->bytes), out_bytes(g->peak));
	leak_line_rate(f, 11, g->growth, interval);
	fprintf(f, " %8llu", g->count);
	if (!narrow)
		fprintf(f, " %9s", out_ns(options->now > g->oldest ? options->now - g->oldest : 0));
	if (options->by != LEAK_BY_PROCESS)
		fprintf(f, " %-7s", memory_name(g->memory));
	if (options->by == LEAK_BY_STACK)
		stack_view_callers(f, g->stack);
}
