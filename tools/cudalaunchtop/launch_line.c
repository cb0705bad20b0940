/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "base/escape.h"
#include "cudalaunchtop/launch_line.h"
#include "cudalaunchtop/name_fit.h"
#include "view/columns.h"

enum { STREAM = 14 };	/* columns */

int launch_dim_text(char *buf, size_t size, const unsigned *d)
{
	return *d ? snprintf(buf, size, "%ux%ux%u", d[0], d[1], d[2]) : snprintf(buf, size, "-");
}

static void dim(FILE *f, int width, const unsigned *d)
{
	char buf[40];

	launch_dim_text(buf, sizeof(buf), d);
	fprintf(f, " %-*s", width, buf);
}

void launch_head(FILE *f, const struct launch_view *v, const struct launch_widths *w)
{
	fprintf(f, "%-7s %-*s %*s", "PID", w->comm, "COMM", w->narrow ? 9 : 10,
		w->narrow ? "LAUNCH/S" : "LAUNCHES/S");
	if (!w->narrow)
		fprintf(f, " %10s", "LAUNCHES");
	fprintf(f, " %*s", w->narrow ? 9 : 10, "TOTAL");
	if (v->devices.several)
		fputs(" DEVICE", f);
	if (v->streams)
		fprintf(f, " %*s", STREAM, "STREAM");
	if (v->failed)
		fprintf(f, " %8s", "FAILED");
	if (v->by_process && v->contained)
		fprintf(f, " %-*s", CONTAINER_ID - 1, "CONTAINER");
	if (v->by_process)
		return;
	if (w->shapes)
		fprintf(f, " %-*s %-*s", w->grid, "GRID", w->block, "BLOCK");
	if (!w->narrow)
		fprintf(f, " %*s", w->threads, "THREADS");
	fputs(" KERNEL", f);
}

/* What stands before a kernel's name. */
static char *mark(const struct launch_row *r)
{
	const char *kind = r->kind == LAUNCH_GRAPH ? "[graph] " : r->kind == LAUNCH_COOPERATIVE ?
			   "[cooperative] " : "";

	return r->last.impossible ? xprintf("%s[%llu impossible] ", kind, r->last.impossible) : xstrdup(kind);
}

/* A stack follows the name: half of the columns are left for it. */
static void kernel(FILE *f, const struct launch_view *v, const struct launch_line *l,
		   const struct launch_widths *w)
{
	char *before = mark(&l->row), *name = NULL;
	int columns = w->name - strlen(before);

	if (w->fit && w->name != INT_MAX)
		name = name_fit(w->fit, l - w->lines, v->stacks ? columns / 2 : columns);
	fputs(before, f);
	if (name)
		fputs(name, f);
	else
		escape_text(f, l->kernel);
	free(before);
	free(name);
}

void launch_text(FILE *f, const struct launch_view *v, const struct launch_line *l,
		 const struct launch_widths *w)
{
	const struct launch_row *r = &l->row;
	char number[16];

	fprintf(f, "%-7d ", r->pid);
	fprintf(f, "%*s", w->comm - escape_text(f, r->comm), "");
	fprintf(f, " %*.1f", w->narrow ? 9 : 10, l->rate);
	if (!w->narrow)
		fprintf(f, " %10llu", r->last.launches);
	fprintf(f, " %*llu", w->narrow ? 9 : 10, r->total.launches);
	if (v->devices.several)
		fprintf(f, " %6s", device_text(r->device, number));
	if (v->streams) {
		fputc(' ', f);
		OUT_STREAM->text(f, &(struct field){ .width = STREAM }, &r->stream);
	}
	if (v->failed)
		fprintf(f, " %8llu", r->last.failed);
	if (v->by_process && v->contained)
		fprintf(f, " %-*s", CONTAINER_ID - 1, *l->container ? l->container : "-");
	if (v->by_process)
		return;
	if (w->shapes) {
		dim(f, w->grid, r->grid);
		dim(f, w->block, r->block);
	}
	if (!w->narrow && launch_threads(r))
		fprintf(f, " %*llu", w->threads, launch_threads(r));
	else if (!w->narrow)
		fprintf(f, " %*s", w->threads, "-");
	fputc(' ', f);
	kernel(f, v, l, w);
}
