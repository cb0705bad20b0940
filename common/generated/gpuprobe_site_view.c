/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/die.h"
#include "base/escape.h"
#include "cli/hist.h"
#include "cli/row.h"
#include "generated/gpuprobe_site_view.h"
#include "gpuprobe/gpuprobe_view.h"
#include "view/kernel_names.h"

/* A row about a site, or a record of one. */
struct line {
	unsigned long long time;
	const char *kernel, *symbol, *file, *kind, *space, *op;
	unsigned long long at, bytes;
	struct out_print place;
	unsigned long long counters[GPU_BUCKETS];
	struct hist_totals totals;
	unsigned long long rows[HIST_ROWS];
	const unsigned long long *hist;
	unsigned long long value, clock, sm, block, warp, grid;
};

enum { FIELDS = GPU_BUCKETS + 24, HEAD = 24 };

/* The fields of a row, and the heads of counters. */
struct fields {
	struct field f[FIELDS];
	char heads[GPU_BUCKETS][HEAD];
	unsigned n;
};

enum { PLACE = 20 };		/* columns */

OUT_WORD(site_type, "site");
OUT_WORD(record_type, "record");

#define AT(f) offsetof(struct line, f)
static const struct field site_fields[] = {
	{ "kind", "KIND", -7, OUT_STR, AT(kind) },
	{ "space", "SPACE", -8, OUT_STR, AT(space) },
	{ "op", "OP", -22, OUT_STR, AT(op) },
	{ "bytes", NULL, 0, OUT_UINT, AT(bytes) },
	{ "file", NULL, 0, OUT_STR, AT(file) },
	{ "line", NULL, 0, OUT_UINT, AT(at) },
	{ NULL, "PLACE", -PLACE, OUT_PRINT, AT(place) },
	{ "kernel", "KERNEL", -1, OUT_STR, AT(kernel) },
	{ "short", NULL, 0, OUT_SHORT, AT(kernel) },
	{ "symbol", NULL, 0, OUT_STR, AT(symbol) },
	{ 0 }
};

static const struct field begin_fields[] = {
	{ "type", NULL, 0, &site_type, 0 },
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ 0 }
};

static const struct field hist_fields[] = {	/* for JSON */
	{ "count", NULL, 0, OUT_UINT, AT(totals.count) },
	{ "total", NULL, 0, OUT_UINT, AT(totals.total) },
	{ "min", NULL, 0, OUT_UINT, AT(totals.spread.min) },
	{ "p50", NULL, 0, OUT_UINT, AT(totals.spread.p50) },
	{ "p95", NULL, 0, OUT_UINT, AT(totals.spread.p95) },
	{ "p99", NULL, 0, OUT_UINT, AT(totals.spread.p99) },
	{ "max", NULL, 0, OUT_UINT, AT(totals.spread.max) },
	{ "hist", NULL, 0, OUT_ROWS, AT(hist) },
	{ 0 }
};

static const struct field record_fields[] = {
	{ "type", NULL, 0, &record_type, 0 },
	{ "clock", "CLOCK", 16, OUT_UINT, AT(clock) },
	{ "value", "VALUE", 10, OUT_UINT, AT(value) },
	{ "grid", "GRID", 6, OUT_UINT, AT(grid) },
	{ "block", "BLOCK", 8, OUT_UINT, AT(block) },
	{ "warp", "WARP", 4, OUT_UINT, AT(warp) },
	{ "sm", "SM", 4, OUT_UINT, AT(sm) },
	{ 0 }
};

static void add_fields(struct fields *to, const struct field *f)
{
	while (f->key || f->head)
		to->f[to->n++] = *f++;
	to->f[to->n] = (struct field){ 0 };
}

static void add_counters(struct fields *to, const char *const *counters)
{
	for (int i = 0; i < GPU_BUCKETS && counters[i]; i++) {
		size_t n = strlen(counters[i]);

		for (size_t j = 0; j < n && j < HEAD - 1; j++)
			to->heads[i][j] = toupper((unsigned char)counters[i][j]);
		to->f[to->n++] = (struct field){ counters[i], to->heads[i], n > 10 ? n : 10, OUT_UINT,
						 AT(counters) + i * sizeof(unsigned long long) };
	}
}

/* Make the fields of a row, which start zeroed: what a site counted, by names ended by NULL; a histogram, for JSON; a
 * record; then the site. */
static void make_counters_fields(struct fields *f, const char *const *counters)
{
	add_fields(f, begin_fields);
	add_counters(f, counters);
	add_fields(f, site_fields);
}

static void make_hist_fields(struct fields *f)
{
	add_fields(f, begin_fields);
	add_fields(f, hist_fields);
	add_fields(f, site_fields);
}

static void make_record_fields(struct fields *f)
{
	add_fields(f, record_fields);
	add_fields(f, site_fields);
}

static void put_place(FILE *f, const void *of)
{
	int n = gpuprobe_site_place(f, of);

	fprintf(f, "%*s", n < PLACE ? PLACE - n : 0, "");
}

/* Returns what is known of a site; it points to a name of the demangler's, until the next call. */
static struct line line_of(struct demangler *names, const struct site *site)
{
	return (struct line){
		.time = clock_ns(), .symbol = site->kernel, .kernel = demangle_brief(names, site->kernel),
		.file = site->file, .at = site->file ? site->line : NO_VALUE, .kind = site->kind,
		.space = strcmp(site->space, "-") ? site->space : NULL, .op = site->op,
		.bytes = site->bytes ? site->bytes : NO_VALUE, .place = { put_place, site },
	};
}

static void hist_line(struct gpuprobe_site_view *v, const struct line *l)
{
	escape_text(stdout, l->kernel);
	fputs(": ", stdout);
	gpuprobe_site_op(l->place.of);
	fputs(", ", stdout);
	gpuprobe_site_place(stdout, l->place.of);
	putchar('\n');
	hist_table(&l->totals, v->unit);
	hist_rows_text(l->rows, v->unit);
	putchar('\n');
	out_line_end();
}

static void show_hist(struct gpuprobe_site_view *v, const struct gpuprobe_total *t, struct line *l)
{
	struct fields f = { 0 };

	gpuprobe_sum_rows(&t->sum, l->rows);
	l->totals = (struct hist_totals){ t->sum.count, t->sum.sum, hist_rows_spread(l->rows, t->sum.min, t->sum.max) };
	l->hist = l->rows;
	if (!out_is_json()) {
		hist_line(v, l);
		return;
	}
	make_hist_fields(&f);
	out_row(f.f, l);
}

static void show_counters(struct gpuprobe_site_view *v, const struct gpuprobe_total *t, struct line *l)
{
	struct fields f = { 0 };

	memcpy(l->counters, t->sum.hist, sizeof(l->counters));
	make_counters_fields(&f, v->counters);
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
		struct line l = line_of(&v->names, &all[i].code->sites.site[all[i].site]);

		(v->shown == GPU_SITE_COUNTERS ? show_counters : show_hist)(v, &all[i], &l);
	}
	v->begun = n;
	free(all);
}

void gpuprobe_site_view_records(struct gpuprobe_site_view *v, struct gpuprobe_modules *m, struct gpuprobe_module *module)
{
	struct fields f = { 0 };

	make_record_fields(&f);
	if (!v->begun)
		out_head(f.f);
	v->begun = true;
	for (size_t i = 0; i < module->num_records; i++) {
		const struct gpu_record *r = &module->records[i];
		struct line l = line_of(&v->names, &module->code->sites.site[r->site]);

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
