/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <math.h>
#include <stdlib.h>
#include "abi/device.h"
#include "base/die.h"
#include "base/escape.h"
#include "base/util.h"
#include "cli/out.h"
#include "cudatop/gpu_rows.h"
#include "cudatop/rows.h"

/* Columns of a line without bars and name, of a name on a narrow terminal and on a wide one; columns of a wide one. */
enum { TEXT = 37, NAME = 11, WIDE_NAME = 28, WIDE = 100, LEAST_BARS = 4 };

static struct top_gpu *gpu(struct top_gpus *g, size_t i)
{
	while (g->n <= i) {
		g->all = xrealloc(g->all, g->n + 1, sizeof(*g->all));
		g->all[g->n++] = (struct top_gpu){ .busy = NAN };
	}
	return &g->all[i];
}

static void add_nvml(struct top_gpus *g, const struct nvml *n)
{
	g->nvml = true;
	for (unsigned i = 0; i < n->ndevices; i++) {
		const struct nvml_device *d = &n->devices[i];
		struct top_gpu *to = gpu(g, i);

		to->seen = true;
		snprintf(to->name, sizeof(to->name), "%s", d->name);
		to->busy = d->busy < 0 ? NAN : d->busy / 100.;
		to->used = d->used;
		to->total = d->memory_known ? d->total : 0;
	}
}

struct adding { struct top_gpus *to; double ns; };

static void add_time(void *ctx, const struct gpu_tally *t)
{
	const struct adding *a = ctx;
	struct top_gpu *to = t->key.device && t->key.device <= DEVICES ? gpu(a->to, t->key.device - 1) : NULL;

	if (!to || a->ns <= 0)
		return;
	to->busy = (to->seen ? to->busy : 0) + t->last.ns / a->ns;
	to->busy = to->busy < 1 ? to->busy : 1;	/* kernels may run beside each other */
	to->seen = true;
}

static void add_gpu_time(struct top_gpus *g, const struct top_rows *rows)
{
	for (size_t i = 0; i < g->n; i++) {
		g->all[i].busy = 0;
		g->all[i].seen = true;
	}
	gpu_time_each(rows->gpu, add_time, &(struct adding){ g, rows->interval * 1e9 });
}

/* An answer of NVML that is late leaves a gap. */
void top_gpus_add(struct top_gpus *g, const struct top_rows *rows)
{
	for (size_t i = 0; i < g->n; i++)
		g->all[i].seen = false;
	if (rows->nvml.ndevices)
		add_nvml(g, &rows->nvml);
	else if (!g->nvml && rows->gpu)
		add_gpu_time(g, rows);
	for (size_t i = 0; i < g->n; i++) {
		struct top_gpu *to = &g->all[i];

		spark_add(&to->was_busy, to->seen ? to->busy : NAN);
		spark_add(&to->was_used, to->seen && to->total ? (double)to->used / to->total : NAN);
	}
}

size_t top_gpus_lines(const struct top_gpus *g, size_t max)
{
	return g->n < max ? g->n : max;
}

static int bars(int columns)
{
	const int n = (columns - TEXT - (columns < WIDE ? NAME : WIDE_NAME)) / 2;

	return n < LEAST_BARS ? LEAST_BARS : n;
}

static void print_gpu(const struct top_gpu *g, FILE *f, int columns)
{
	if (isnan(g->busy))
		fputs("   -  ", f);
	else
		fprintf(f, "%4.0f%% ", 100 * g->busy);
	spark_print(f, &g->was_busy, bars(columns), 1);
	if (g->total) {
		fprintf(f, " %10s of %-9s ", out_bytes(g->used), out_bytes(g->total));
		spark_print(f, &g->was_used, bars(columns), 1);
	}
	fputs("  ", f);
	escape_text(f, g->name);
}

void top_gpus_print(const struct top_gpus *g, FILE *f, size_t i, size_t lines, int columns)
{
	if (i == lines - 1 && g->n > lines) {
		fprintf(f, "... and %zu more GPUs", g->n - i);
		return;
	}
	fprintf(f, "%s %-2zu", g->nvml ? "GPU" : "device", i);
	print_gpu(&g->all[i], f, columns);
}

void top_gpus_free(struct top_gpus *g)
{
	free(g->all);
	*g = (struct top_gpus){ 0 };
}
