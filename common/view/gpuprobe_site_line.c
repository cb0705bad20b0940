/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <ctype.h>
#include <string.h>
#include "base/clock.h"
#include "base/escape.h"
#include "view/gpuprobe_site_line.h"

enum { PLACE = 20 };		/* columns */

OUT_WORD(site_type, "site");
OUT_WORD(record_type, "record");

#define AT(f) offsetof(struct gpuprobe_site_line, f)
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

static void add_fields(struct gpuprobe_site_fields *to, const struct field *f)
{
	while (f->key || f->head)
		to->f[to->n++] = *f++;
	to->f[to->n] = (struct field){ 0 };
}

static void add_counters(struct gpuprobe_site_fields *to, const char *const *counters)
{
	for (int i = 0; i < GPU_BUCKETS && counters[i]; i++) {
		size_t n = strlen(counters[i]);

		for (size_t j = 0; j < n && j < GPU_SITE_HEAD - 1; j++)
			to->heads[i][j] = toupper((unsigned char)counters[i][j]);
		to->f[to->n++] = (struct field){ counters[i], to->heads[i], n > 10 ? n : 10, OUT_UINT,
						 AT(counters) + i * sizeof(unsigned long long) };
	}
}

void gpuprobe_site_fields_counters(struct gpuprobe_site_fields *f, const char *const *counters)
{
	add_fields(f, begin_fields);
	add_counters(f, counters);
	add_fields(f, site_fields);
}

void gpuprobe_site_fields_hist(struct gpuprobe_site_fields *f)
{
	add_fields(f, begin_fields);
	add_fields(f, hist_fields);
	add_fields(f, site_fields);
}

void gpuprobe_site_fields_record(struct gpuprobe_site_fields *f)
{
	add_fields(f, record_fields);
	add_fields(f, site_fields);
}

int gpuprobe_site_place(FILE *f, const struct site *site)
{
	const char *slash = site->file ? strrchr(site->file, '/') : NULL;

	if (!site->file) {
		putc('-', f);
		return 1;
	}
	return escape_text(f, slash ? slash + 1 : site->file) + fprintf(f, ":%u", site->line);
}

void gpuprobe_site_op(const struct site *site)
{
	if (strcmp(site->space, "-")) {
		escape_text(stdout, site->space);
		putchar(' ');
	}
	escape_text(stdout, site->kind);
	fputs(", ", stdout);
	escape_text(stdout, site->op);
}

void gpuprobe_site_where(const char *kernel, const struct site *site)
{
	escape_text(stdout, kernel);
	fputs(": ", stdout);
	escape_text(stdout, site->op);
	if (site->file) {
		fputs(", ", stdout);
		gpuprobe_site_place(stdout, site);
	}
	putchar('\n');
}

static void put_place(FILE *f, const void *of)
{
	int n = gpuprobe_site_place(f, of);

	fprintf(f, "%*s", n < PLACE ? PLACE - n : 0, "");
}

struct gpuprobe_site_line gpuprobe_site_line(struct demangler *names, const struct site *site)
{
	return (struct gpuprobe_site_line){
		.time = clock_ns(), .symbol = site->kernel, .kernel = demangle_brief(names, site->kernel),
		.file = site->file, .at = site->file ? site->line : NO_VALUE, .kind = site->kind,
		.space = strcmp(site->space, "-") ? site->space : NULL, .op = site->op,
		.bytes = site->bytes ? site->bytes : NO_VALUE, .place = { put_place, site },
	};
}
