/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "base/clock.h"
#include "base/util.h"
#include "cli/out.h"
#include "cli/row.h"
#include "cudabounds/outside.h"
#include "model/gpuprobe_totals.h"
#include "view/gpuprobe_site_line.h"

enum { CHECKED, OUTSIDE };	/* as the probe counts */

struct line {
	unsigned long long time, checked, outside, at, bytes, addr, low, size, lanes, block, warp, grid;
	const char *kernel, *symbol, *file, *kind, *space, *op;
};

OUT_WORD(site_type, "site");
OUT_WORD(access_type, "access");

#define AT(f) offsetof(struct line, f)
#define PLACE_FIELDS						\
	{ "kind", NULL, 0, OUT_STR, AT(kind) },			\
	{ "space", NULL, 0, OUT_STR, AT(space) },		\
	{ "op", NULL, 0, OUT_STR, AT(op) },			\
	{ "file", NULL, 0, OUT_STR, AT(file) },			\
	{ "line", NULL, 0, OUT_UINT, AT(at) },			\
	{ "kernel", NULL, 0, OUT_STR, AT(kernel) },		\
	{ "symbol", NULL, 0, OUT_STR, AT(symbol) },		\
	{ 0 }
static const struct field site_fields[] = {	/* for JSON */
	{ "type", NULL, 0, &site_type, 0 },	/* a site and its accesses */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "checked", NULL, 0, OUT_UINT, AT(checked) },	/* accesses of warps */
	{ "outside", NULL, 0, OUT_UINT, AT(outside) },	/* lanes outside of all allocations */
	PLACE_FIELDS
};
static const struct field access_fields[] = {
	{ "type", NULL, 0, &access_type, 0 },	/* an access outside of all allocations */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "addr", NULL, 0, OUT_PTR, AT(addr) },	/* accessed by a lane */
	{ "bytes", NULL, 0, OUT_UINT, AT(bytes) },	/* bytes: of a lane */
	{ "lanes", NULL, 0, OUT_UINT, AT(lanes) },	/* outside together */
	{ "below", NULL, 0, OUT_PTR, AT(low) },	/* nearest allocation that begins below */
	{ "below_size", NULL, 0, OUT_UINT, AT(size) },	/* bytes: of it */
	{ "grid", NULL, 0, OUT_UINT, AT(grid) },	/* number of the launch */
	{ "block", NULL, 0, OUT_UINT, AT(block) },	/* number in the grid */
	{ "warp", NULL, 0, OUT_UINT, AT(warp) },	/* number in the block */
	PLACE_FIELDS
};

static struct line line_of(struct outsides *all, const struct site *site)
{
	return (struct line){
		.time = clock_ns(), .kernel = demangle_brief(&all->names, site->kernel), .symbol = site->kernel,
		.file = site->file, .at = site->file ? site->line : NO_VALUE, .kind = site->kind, .space = site->space,
		.op = site->op,
	};
}

static void place_text(const struct line *l, const struct site *site)
{
	printf("%10llu  ", l->outside);
	gpuprobe_site_where(l->kernel, site);
}

static void access_text(const struct outside *o)
{
	unsigned long long end = o->low + o->size;

	printf("            %u bytes at %#llx", o->bytes, o->addr);
	if (!o->size)
		printf(": below all allocations");
	else if (o->addr < end)
		printf(": across the end of %s at %#llx", out_bytes(o->size), o->low);
	else
		printf(": %s behind the end of %s at %#llx", out_bytes(o->addr - end), out_bytes(o->size), o->low);
	printf("; block %u, warp %u, %u lane%s\n", o->block, o->warp, o->lanes, plural(o->lanes));
}

static void access_json(struct line *l, const struct outside *o)
{
	l->addr = o->addr;
	l->bytes = o->bytes;
	l->lanes = o->lanes;
	l->low = o->low;
	l->size = o->size;
	l->grid = o->grid;
	l->block = o->block;
	l->warp = o->warp;
	out_row(access_fields, l);
}

static void show(struct outsides *all, const struct gpuprobe_total *t, size_t examples)
{
	const struct site *site = &t->code->sites.site[t->site];
	struct line l = line_of(all, site);
	size_t shown = 0;

	l.checked = t->sum.hist[CHECKED];
	l.outside = t->sum.hist[OUTSIDE];
	if (out_is_json())
		out_row(site_fields, &l);
	else if (l.outside)
		place_text(&l, site);
	for (size_t i = 0; l.outside && i < all->n && shown < examples; i++) {
		const struct outside *o = &all->at[i];

		if (o->code != t->code || o->site != t->site)
			continue;
		shown++;
		if (out_is_json())
			access_json(&l, o);
		else
			access_text(o);
	}
}

static int by_outside(const void *a, const void *b)
{
	const struct gpuprobe_total *x = a, *y = b;

	return (x->sum.hist[OUTSIDE] < y->sum.hist[OUTSIDE]) - (x->sum.hist[OUTSIDE] > y->sum.hist[OUTSIDE]);
}

void outside_report(struct outsides *all, const struct gpuprobe_modules *m, size_t examples)
{
	unsigned long long checked = 0, outside = 0;
	size_t n;
	struct gpuprobe_total *totals = gpuprobe_totals(m, &n);

	for (size_t i = 0; i < n; i++) {
		checked += totals[i].sum.hist[CHECKED];
		outside += totals[i].sum.hist[OUTSIDE];
	}
	if (n)
		qsort(totals, n, sizeof(*totals), by_outside);
	if (!out_is_json())
		printf("[%s] %llu access%s of warps checked, %llu of lanes outside of all allocations\n%s", out_clock(),
		       checked, checked == 1 ? "" : "es", outside, outside ? "     LANES  PLACE\n" : "");
	for (size_t i = 0; i < n; i++)
		show(all, &totals[i], examples);
	out_line_end();
	free(totals);
}
