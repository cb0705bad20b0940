/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/escape.h"
#include "cli/out.h"
#include "cudaleak/leak_line.h"
#include "view/device_field.h"
#include "view/stack_view.h"

static int comm_width(const struct leak_columns *columns)
{
	return columns->narrow ? 10 : 15;
}

static bool has_memory(const struct leak_options *options)
{
	return options->by == LEAK_BY_STACK || options->by == LEAK_BY_KIND;
}

static bool has_device(const struct leak_options *options, const struct leak_columns *columns)
{
	return options->by == LEAK_BY_DEVICE || (options->by == LEAK_BY_STACK && columns->device);
}

void leak_line_rate(FILE *f, int width, long long bytes, double interval)
{
	fprintf(f, "%*s", width, out_change(interval > 0 ? bytes / interval : 0));
}

void leak_line_head(FILE *f, const struct leak_options *options, const struct leak_columns *columns)
{
	fprintf(f, "%-7s %-*s %10s %10s %11s %8s", "PID", comm_width(columns), "COMM", "HELD", "PEAK",
		"GROWTH/S", "COUNT");
	if (!columns->narrow)
		fprintf(f, " %9s", "OLDEST");
	if (has_device(options, columns))
		fprintf(f, " %s", columns->narrow ? "DEV" : "DEVICE");
	if (has_memory(options))
		fprintf(f, " %-7s", "MEMORY");
	if (options->by == LEAK_BY_STACK)
		fputs(" STACK", f);
}

void leak_line(FILE *f, const struct leak_group *g, const struct leak_options *options, double interval,
	       const struct leak_columns *columns)
{
	char number[16];
	int left;

	fprintf(f, "%-7d ", g->process->pid);
	left = comm_width(columns) - escape_text(f, g->process->comm);
	fprintf(f, "%*s", left > 0 ? left : 0, "");
	fprintf(f, " %10s %10s ", out_bytes(g->bytes), out_bytes(g->peak));
	leak_line_rate(f, 11, g->growth, interval);
	fprintf(f, " %8llu", g->count);
	if (!columns->narrow)
		fprintf(f, " %9s", out_ns(options->now > g->oldest ? options->now - g->oldest : 0));
	if (has_device(options, columns))
		fprintf(f, " %*s", columns->narrow ? 3 : 6, device_text(g->device, number));
	if (has_memory(options))
		fprintf(f, " %-7s", memory_name(g->memory));
	if (options->by == LEAK_BY_STACK)
		stack_view_callers(f, g->stack);
}
