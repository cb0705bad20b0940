/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "base/die.h"
#include "base/escape.h"
#include "cli/hist.h"
#include "model/gpuprobe_totals.h"
#include "view/gpuprobe_site_line.h"
#include "view/gpuprobe_site_view.h"

static void hist_line(struct gpuprobe_site_view *v, const struct gpuprobe_site_line *l)
{
	escape_text(stdout, l->kernel);
	fputs(": ", stdout);
	gpuprobe_site_op(l->place.of);
	fputs(", ", stdout);
	gpuprobe_site_place(stdout, l->place.of);
	putchar('\n');
	hist_table(&l->totals, v->unit);
	hist_text(l->slots, v->unit);
	putchar('\n');
	out_line_end();
}

static void show_hist(struct gpuprobe_site_view *v, const struct gpuprobe_total *t, struct gpuprobe_site_line *l)
{
	struct gpuprobe_site_fields f = { 0 };

	gpuprobe_sum_slots(&t->sum, l->slots);
	l->totals = (struct hist_totals){ t->sum.count, t->sum.sum, hist_spread(l->slots, t->sum.min, t->sum.max) };
	l->hist = l->slots;
	if (!out_is_json()) {
		hist_line(v, l);
		return;
	}
	gpuprobe_site_fields_hist(&f);
	out_row(f.f, l);
}

static void show_counters(struct gpuprobe_site_view *v, const struct gpuprobe_total *t, struct gpuprobe_site_line *l)
{
	struct gpuprobe_site_fields f = { 0 };

	memcpy(l->counters, t->sum.hist, sizeof(l->counters));
	gpuprobe_site_fields_counters(&f, v->counters);
	if (!v->begun)
		out_head(f.f);
	v->begun = true;
	out_row(f.f, l);
}

static int by_first(const void *a, const void *b)
{
	const struct gpuprobe_total *x = a, *y = b;

	return (x->sum.hist[0] < y->sum.hist[0]) - (x->sum.hist[0] > y->sum.hist[0]);
}

static int by_count(const void *a, const void *b)
{
	const struct gpuprobe_total *x = a, *y = b;

	return (x->sum.count < y->sum.count) - (x->sum.count > y->sum.count);
}

void gpuprobe_site_view(struct gpuprobe_site_view *v, const struct gpuprobe_modules *m)
{
	size_t n;
	struct gpuprobe_total *all = gpuprobe_totals(m, &n);

	if (n)
		qsort(all, n, sizeof(*all), v->shown == GPU_SITE_COUNTERS ? by_first : by_count);
	if (!out_is_json() && v->begun && v->shown == GPU_SITE_COUNTERS)
		putchar('\n');
	v->begun = false;
	if (!out_is_json())
		printf("[%s]%s\n", out_clock(), n ? "" : " nothing measured");
	for (size_t i = 0; i < n; i++) {
		struct gpuprobe_site_line l = gpuprobe_site_line(&v->names, &all[i].code->sites.site[all[i].site]);

		(v->shown == GPU_SITE_COUNTERS ? show_counters : show_hist)(v, &all[i], &l);
	}
	v->begun = n;
	free(all);
}

void gpuprobe_site_view_records(struct gpuprobe_site_view *v, struct gpuprobe_modules *m, struct gpuprobe_module *module)
{
	struct gpuprobe_site_fields f = { 0 };

	gpuprobe_site_fields_record(&f);
	if (!v->begun)
		out_head(f.f);
	v->begun = true;
	for (size_t i = 0; i < module->num_records; i++) {
		const struct gpu_record *r = &module->records[i];
		struct gpuprobe_site_line l = gpuprobe_site_line(&v->names, &module->code->sites.site[r->site]);

		l.clock = r->time;
		l.value = r->value;
		l.sm = r->smid;
		l.block = r->block;
		l.warp = r->warp & 0xffff;
		l.grid = r->grid;
		out_row(f.f, &l);
	}
	gpuprobe_modules_forget(m, module);
}
