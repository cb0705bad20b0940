/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "gpuprobe/gpuprobe_view.h"
#include "gpuprobe/site_row.h"

static void put_place(FILE *f, const void *of)
{
	int n = gpuprobe_site_place(f, of);

	fprintf(f, "%*s", n < SITE_PLACE_WIDTH ? SITE_PLACE_WIDTH - n : 0, "");
}

struct site_row site_row(const struct site *site, const char *kernel, unsigned long long time)
{
	return (struct site_row){
		.time = time, .site = site, .kernel = kernel, .symbol = site->kernel, .kind = site->kind, .op = site->op,
		.file = site->file, .space = strcmp(site->space, "-") ? site->space : NULL,
		.line = site->file ? site->line : OUT_NONE, .bytes = site->bytes ? site->bytes : OUT_NONE,
		.place = { put_place, site },
	};
}

void site_hist(struct site_hist *h, const struct gpuprobe_total *total)
{
	const struct gpuprobe_sum *sum = &total->sum;

	gpuprobe_sum_rows(sum, h->rows);
	h->hist = h->rows;
	h->totals = (struct hist_totals){ sum->count, sum->sum, hist_rows_spread(h->rows, sum->min, sum->max) };
}

void site_hist_text(const struct site_hist *h, enum out_unit unit)
{
	hist_table(&h->totals, unit);
	hist_rows_text(h->rows, unit);
	putchar('\n');
	out_line_end();
}
