/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/die.h"
#include "base/escape.h"
#include "cli/hist.h"
#include "cli/row.h"
#include "model/gpu_totals.h"
#include "view/gpu_site_view.h"

/* A site, or a record of one. */
struct line {
	unsigned long long time;
	const char *kernel, *symbol, *file, *kind, *space, *op;
	unsigned long long at, bytes;
	struct out_print place;
	unsigned long long counters[GPU_BUCKETS];
	struct hist_totals totals;
	unsigned long long slots[HIST_SLOTS];
	const unsigned long long *hist;
	unsigned long long value, clock, sm, block, warp, grid;
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
	{ "hist", NULL, 0, OUT_HIST, AT(hist) },
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

enum { FIELDS = GPU_BUCKETS + 24, HEAD = 24 };

/* The fields of a row, and the heads of counters. */
struct fields {
	struct field f[FIELDS];
	char heads[GPU_BUCKETS][HEAD];
	unsigned n;
};

static void add_fields(struct fields *to, const struct field *f)
{
	while (f->key || f->head)
		to->f[to->n++] = *f++;
	to->f[to->n] = (struct field){ 0 };
}

static void add_counters(struct fields *to, const struct gpu_site_view *v)
{
	for (int i = 0; i < GPU_BUCKETS && v->counters[i]; i++) {
		size_t n = strlen(v->counters[i]);

		for (size_t j = 0; j < n && j < HEAD - 1; j++)
			to->heads[i][j] = toupper((unsigned char)v->counters[i][j]);
		to->f[to->n++] = (struct field){ v->counters[i], to->heads[i], n > 10 ? n : 10, OUT_UINT,
						 AT(counters) + i * sizeof(unsigned long long) };
	}
}

/* Writes "file:line", without folders; returns the columns. */
static int write_place(FILE *f, const struct site *site)
{
	const char *slash = site->file ? strrchr(site->file, '/') : NULL;

	if (!site->file) {
		putc('-', f);
		return 1;
	}
	return escape_text(f, slash ? slash + 1 : site->file) + fprintf(f, ":%u", site->line);
}

static void put_place(FILE *f, const void *of)
{
	int n = write_place(f, of);

	fprintf(f, "%*s", n < PLACE ? PLACE - n : 0, "");
}

static struct line line_of(struct gpu_site_view *v, const struct site *site)
{
	return (struct line){
		.time = clock_ns(), .symbol = site->kernel, .kernel = demangle_brief(&v->names, site->kernel),
		.file = site->file, .at = site->file ? site->line : NO_VALUE, .kind = site->kind,
		.space = strcmp(site->space, "-") ? site->space : NULL, .op = site->op,
		.bytes = site->bytes ? site->bytes : NO_VALUE, .place = { put_place, site },
	};
}

static void hist_line(struct gpu_site_view *v, const struct line *l)
{
	escape_text(stdout, l->kernel);
	fputs(": ", stdout);
	if (l->space)
		printf("%s ", l->space);
	escape_text(stdout, l->kind);
	fputs(", ", stdout);
	escape_text(stdout, l->op);
	fputs(", ", stdout);
	write_place(stdout, l->place.of);
	putchar('\n');
	hist_table(&l->totals, v->unit);
	hist_text(l->slots, v->unit);
	putchar('\n');
	out_line_end();
}

static void show_hist(struct gpu_site_view *v, const struct gpu_total *t, struct line *l)
{
	struct fields f = { 0 };

	gpu_sum_slots(&t->sum, l->slots);
	l->totals = (struct hist_totals){ t->sum.count, t->sum.sum, hist_spread(l->slots, t->sum.min, t->sum.max) };
	l->hist = l->slots;
	if (!out_is_json()) {
		hist_line(v, l);
		return;
	}
	add_fields(&f, begin_fields);
	add_fields(&f, hist_fields);
	add_fields(&f, site_fields);
	out_row(f.f, l);
}

static void show_counters(struct gpu_site_view *v, const struct gpu_total *t, struct line *l)
{
	struct fields f = { 0 };

	memcpy(l->counters, t->sum.hist, sizeof(l->counters));
	add_fields(&f, begin_fields);
	add_counters(&f, v);
	add_fields(&f, site_fields);
	if (!v->begun)
		out_head(f.f);
	v->begun = true;
	out_row(f.f, l);
}

static int by_first(const void *a, const void *b)
{
	const struct gpu_total *x = a, *y = b;

	return (x->sum.hist[0] < y->sum.hist[0]) - (x->sum.hist[0] > y->sum.hist[0]);
}

static int by_count(const void *a, const void *b)
{
	const struct gpu_total *x = a, *y = b;

	return (x->sum.count < y->sum.count) - (x->sum.count > y->sum.count);
}

void gpu_site_view(struct gpu_site_view *v, const struct gpu_modules *m)
{
	size_t n;
	struct gpu_total *all = gpu_totals(m, &n);

	if (n)
		qsort(all, n, sizeof(*all), v->shown == GPU_SITE_COUNTERS ? by_first : by_count);
	if (!out_is_json() && v->begun && v->shown == GPU_SITE_COUNTERS)
		putchar('\n');
	v->begun = false;
	if (!out_is_json())
		printf("[%s]%s\n", out_clock(), n ? "" : " nothing measured");
	for (size_t i = 0; i < n; i++) {
		struct line l = line_of(v, &all[i].code->sites.site[all[i].site]);

		(v->shown == GPU_SITE_COUNTERS ? show_counters : show_hist)(v, &all[i], &l);
	}
	v->begun = n;
	free(all);
}

void gpu_site_view_records(struct gpu_site_view *v, struct gpu_modules *m, struct gpu_module *module)
{
	struct fields f = { 0 };

	add_fields(&f, record_fields);
	add_fields(&f, site_fields);
	if (!v->begun)
		out_head(f.f);
	v->begun = true;
	for (size_t i = 0; i < module->num_records; i++) {
		const struct gpu_record *r = &module->records[i];
		struct line l = line_of(v, &module->code->sites.site[r->site]);

		l.clock = r->time;
		l.value = r->value;
		l.sm = r->smid;
		l.block = r->block;
		l.warp = r->warp & 0xffff;
		l.grid = r->grid;
		out_row(f.f, &l);
	}
	gpu_modules_forget(m, module);
}
