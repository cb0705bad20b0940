/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/escape.h"
#include "cli/out.h"
#include "cudaleak/leak_line.h"
#include "view/columns.h"
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

static bool has_container(const struct leak_options *options, const struct leak_columns *columns)
{
	return columns->containers && (!columns->narrow || options->by == LEAK_BY_PROCESS);
}

void leak_line_rate(FILE *f, int width, long long bytes, double interval)
{
	fprintf(f, "%*s", width, out_change(interval > 0 ? bytes / interval : 0));
}

void leak_line_head(FILE *f, const struct leak_options *options, const struct leak_columns *columns)
{
	fprintf(f, "%-7s %-*s", "PID", comm_width(columns), "COMM");
	if (has_container(options, columns))
		fprintf(f, " %-*s", CONTAINER_ID - 1, "CONTAINER");
	fprintf(f, " %10s %10s %11s %8s", "HELD", "PEAK", "GROWTH/S", "COUNT");
	if (!columns->narrow)
		fprintf(f, " %9s", "OLDEST");
	if (has_device(options, columns))
		fprintf(f, " %s", columns->narrow ? "DEV" : "DEVICE");
	if (has_memory(options))
		fprintf(f, " %-7s", "MEMORY");
	if (options->by == LEAK_BY_STACK)
		fputs(" STACK", f);
}

static void process(FILE *f, const struct mem_process *p, const struct leak_options *options,
		    const struct leak_columns *columns)
{
	const char *id;
	int left;

	fprintf(f, "%-7d ", p->pid);
	left = comm_width(columns) - escape_text(f, p->comm);
	fprintf(f, "%*s", left > 0 ? left : 0, "");
	if (!has_container(options, columns))
		return;
	id = containers_of(columns->containers, p->pid);
	fprintf(f, " %-*s", CONTAINER_ID - 1, id ? id : "-");
}

void leak_line(FILE *f, const struct leak_group *g, const struct leak_options *options, double interval,
	       const struct leak_columns *columns)
{
	char number[16];

	process(f, g->process, options, columns);
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
