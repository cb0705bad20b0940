/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "base/escape.h"
#include "base/util.h"
#include "cli/hist.h"
#include "cli/row.h"
#include "cudamemtime/site_row.h"

OUT_WORD(row_type, "site");

#define AT(f) offsetof(struct site_row, f)
static const struct field fields[] = {	/* for JSON */
	{ "type", NULL, 0, &row_type, 0 },	/* accesses of a site in a kernel */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "kernel", NULL, 0, OUT_STR, AT(kernel) },
	{ "symbol", NULL, 0, OUT_STR, AT(symbol) },
	{ "file", NULL, 0, OUT_STR, AT(file) },
	{ "line", NULL, 0, OUT_UINT, AT(line) },
	{ "kind", NULL, 0, OUT_STR, AT(kind) },	/* load, store, ..., or kernel: warps from entry to exit */
	{ "space", NULL, 0, OUT_STR, AT(space) },
	{ "op", NULL, 0, OUT_STR, AT(op) },
	{ "bytes", NULL, 0, OUT_UINT, AT(bytes) },
	{ "count", NULL, 0, OUT_UINT, AT(count) },	/* accesses measured */
	{ "cycles", NULL, 0, OUT_UINT, AT(cycles) },	/* cycles: in all */
	{ "total_ns", NULL, 0, OUT_UINT, AT(ns) },	/* ns: the same; null if the clock rate is unknown */
	{ "min", NULL, 0, OUT_UINT, AT(spread.min) },	/* cycles: shortest */
	{ "p50", NULL, 0, OUT_UINT, AT(spread.p50) },	/* cycles: median */
	{ "p95", NULL, 0, OUT_UINT, AT(spread.p95) },	/* cycles: 95th percentile */
	{ "p99", NULL, 0, OUT_UINT, AT(spread.p99) },	/* cycles: 99th percentile */
	{ "max", NULL, 0, OUT_UINT, AT(spread.max) },	/* cycles: longest */
	{ "hist", NULL, 0, OUT_HIST, AT(hist) },	/* cycles: accesses by time */
	{ 0 }
};

void site_row(struct site_row *row, const struct gpuprobe_total *total, const struct kernel *kernel,
	      unsigned long long time)
{
	const struct site *site = &total->code->sites.site[total->site];

	*row = (struct site_row){
		.time = time, .site = site, .kernel = kernel->name, .symbol = kernel->symbol,
		.file = site->file, .line = site->file ? site->line : NO_VALUE, .kind = site->kind,
		.space = strcmp(site->space, "-") ? site->space : NULL, .op = site->op,
		.bytes = site->bytes ? site->bytes : NO_VALUE, .count = total->sum.count,
		.cycles = total->sum.sum, .ns = total->ns < 0 ? NO_VALUE : (unsigned long long)total->ns,
	};
	gpuprobe_sum_slots(&total->sum, row->slots);
	row->spread = hist_spread(row->slots, total->sum.min, total->sum.max);
	row->hist = row->slots;
}

void site_place(FILE *f, const struct site *site)
{
	const char *slash = site->file ? strrchr(site->file, '/') : NULL;

	if (!site->file) {
		putc('-', f);
		return;
	}
	escape_text(f, slash ? slash + 1 : site->file);
	fprintf(f, ":%u", site->line);
}

static void head(const struct site_row *r)
{
	fputs("  ", stdout);
	if (strcmp(r->kind, "kernel")) {
		escape_text(stdout, r->space ?: "");
		fputs(r->space ? " " : "", stdout);
		escape_text(stdout, r->kind);
		fputs(", ", stdout);
		escape_text(stdout, r->op);
		fputs(", ", stdout);
	} else {
		fputs("warps from entry to exit, ", stdout);
	}
	site_place(stdout, r->site);
	printf(": %.1f cycles", (double)r->cycles / r->count);
	if (r->ns != NO_VALUE)
		printf(" (%s)", out_ns((double)r->ns / r->count + .5));
	puts(" on average");
}

void site_row_print(const struct site_row *r, bool first)
{
	const struct hist_totals table = { r->count, r->cycles, r->spread };

	if (out_is_json()) {
		out_row(fields, r);
		return;
	}
	if (first) {
		escape_text(stdout, r->kernel);
		putchar('\n');
	}
	head(r);
	hist_table(&table, OUT_UNIT_CYCLES);
	hist_text(r->slots, OUT_UNIT_CYCLES);
	putchar('\n');
	out_line_end();
}
