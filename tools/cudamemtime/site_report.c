/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <fnmatch.h>
#include <string.h>
#include "base/clock.h"
#include "base/escape.h"
#include "base/util.h"
#include "cli/out.h"
#include "cudamemtime/site_report.h"
#include "gpuprobe/gpuprobe_view.h"
#include "gpuprobe/site_row.h"

/* Bytes of demangled names: 60 bytes of a mangled name can become 4,000. */
enum { NAMES_MAX = 64 << 20 };

static char *add_name(struct kernels *all, char *symbol)
{
	const char *name = demangle_brief(&all->demangler, symbol);
	size_t size = strlen(name) + 1;

	if (name == symbol || size > NAMES_MAX - all->bytes)
		return symbol;
	all->bytes += size;
	return xstrdup(name);
}

struct kernel *kernels_get(struct kernels *all, const char *symbol)
{
	size_t n = strlen(symbol);
	struct kernel *k;

	HASH_FIND(hh, all->by_symbol, symbol, n, k);
	if (k)
		return k;
	k = xcalloc(1, sizeof(*k));
	k->symbol = xstrdup(symbol);
	k->name = add_name(all, k->symbol);
	HASH_ADD_KEYPTR(hh, all->by_symbol, k->symbol, n, k);
	return k;
}

static bool match(const char *glob, const char *full, const char *brief, const char *symbol)
{
	return !fnmatch(glob, brief, 0) || !fnmatch(glob, full, 0) || !fnmatch(glob, symbol, 0);
}

bool kernels_match(struct kernels *all, const char *symbol, const char *globs, size_t num)
{
	const char *brief;
	char *full;
	bool found = false;

	if (!num)
		return true;
	brief = kernels_get(all, symbol)->name;
	full = xstrdup(demangle(&all->demangler, symbol));
	for (size_t i = 0; i < num && !found; i += strlen(globs + i) + 1)
		found = match(globs + i, full, brief, symbol);
	free(full);
	return found;
}

void kernels_free(struct kernels *all)
{
	struct kernel *k, *next;

	HASH_ITER(hh, all->by_symbol, k, next) {
		HASH_DELETE(hh, all->by_symbol, k);
		if (k->name != k->symbol)
			free(k->name);
		free(k->symbol);
		free(k);
	}
}

/* A site with its histogram, as text and JSON. */

struct line {
	struct site_row site;
	struct site_hist hist;		/* cycles */
	unsigned long long ns;		/* OUT_NONE: unknown */
};

OUT_WORD(row_type, "site");

#define AT(f) offsetof(struct line, f)
static const struct field fields[] = {	/* for JSON */
	{ "type", NULL, 0, &row_type, 0 },	/* accesses of a site in a kernel */
	{ "time", NULL, 0, OUT_TIME, AT(site.time) },
	SITE_KERNEL_FIELDS,
	SITE_PLACE_FIELDS,
	SITE_OP_FIELDS,
	{ "bytes", NULL, 0, OUT_UINT, AT(site.bytes) },	/* bytes: per lane */
	{ "count", NULL, 0, OUT_UINT, AT(hist.totals.count) },	/* accesses measured */
	{ "cycles", NULL, 0, OUT_UINT, AT(hist.totals.total) },	/* cycles: total */
	{ "total_ns", NULL, 0, OUT_UINT, AT(ns) },	/* ns: the same; null if the clock rate is unknown */
	{ "min", NULL, 0, OUT_UINT, AT(hist.totals.spread.min) },	/* cycles: shortest */
	{ "p50", NULL, 0, OUT_UINT, AT(hist.totals.spread.p50) },	/* cycles: median */
	{ "p95", NULL, 0, OUT_UINT, AT(hist.totals.spread.p95) },	/* cycles: 95th percentile */
	{ "p99", NULL, 0, OUT_UINT, AT(hist.totals.spread.p99) },	/* cycles: 99th percentile */
	{ "max", NULL, 0, OUT_UINT, AT(hist.totals.spread.max) },	/* cycles: longest */
	{ "hist", NULL, 0, OUT_ROWS, AT(hist.hist) },	/* cycles: accesses by time */
	{ 0 }
};

static bool is_kernel(const struct site *site)
{
	return !strcmp(site->kind, "kernel");
}

static void site_report_head(const struct line *l)
{
	const struct hist_totals *t = &l->hist.totals;

	fputs("  ", stdout);
	if (is_kernel(l->site.site))
		fputs("warps from entry to exit", stdout);
	else
		gpuprobe_site_op(l->site.site);
	fputs(", ", stdout);
	gpuprobe_site_place(stdout, l->site.site);
	printf(": %.1f cycles", (double)t->total / t->count);
	if (l->ns != OUT_NONE)
		printf(" (%s)", out_ns((double)l->ns / t->count + .5));
	puts(" on average");
}

/* Prints it; in text after the kernel's name if it is the first of it. */
static void site_report_print(const struct line *l, bool first)
{
	if (out_is_json()) {
		out_row(fields, l);
		return;
	}
	if (first) {
		escape_text(stdout, l->site.kernel);
		putchar('\n');
	}
	site_report_head(l);
	site_hist_text(&l->hist, OUT_UNIT_CYCLES);
}

/* Prints what sites counted: a histogram each, kernels with the most cycles first, and in them sites. */

struct ranked {
	const struct gpuprobe_total *total;
	const struct site *site;
	struct kernel *kernel;
};

static int more(unsigned long long a, unsigned long long b)
{
	return (a < b) - (a > b);
}

/* A kernel's own time comes before its accesses. */
static int site_report_compare(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	int order = more(x->kernel->cycles, y->kernel->cycles);

	if (!order && x->kernel != y->kernel)
		order = strcmp(x->kernel->symbol, y->kernel->symbol);
	if (!order)
		order = is_kernel(y->site) - is_kernel(x->site);
	if (!order)
		order = more(x->total->sum.sum, y->total->sum.sum);
	return order ? order : (x->total->site > y->total->site) - (x->total->site < y->total->site);
}

static struct ranked *rank(const struct gpuprobe_total *totals, size_t n, struct kernels *kernels)
{
	struct ranked *all = xcalloc(n + 1, sizeof(*all));

	for (size_t i = 0; i < n; i++) {
		const struct site *site = &totals[i].code->sites.site[totals[i].site];

		all[i] = (struct ranked){ &totals[i], site, kernels_get(kernels, site->kernel) };
		all[i].kernel->cycles = 0;
	}
	for (size_t i = 0; i < n; i++)
		if (!is_kernel(all[i].site))
			all[i].kernel->cycles += totals[i].sum.sum;
	qsort(all, n, sizeof(*all), site_report_compare);
	return all;
}

void site_report(const struct gpuprobe_modules *m, struct kernels *kernels)
{
	unsigned long long now = clock_ns();
	size_t n;
	struct gpuprobe_total *totals = gpuprobe_totals(m, NULL, &n);
	struct ranked *all = rank(totals, n, kernels);

	if (!out_is_json())
		printf("[%s]%s\n", out_clock(), n ? "" : " no accesses measured");
	for (size_t i = 0; i < n; i++) {
		struct line l = {
			.site = site_row(all[i].site, all[i].kernel->name, now),
			.ns = all[i].total->ns < 0 ? OUT_NONE : (unsigned long long)all[i].total->ns,
		};

		site_hist(&l.hist, all[i].total);
		site_report_print(&l, !i || all[i].kernel != all[i - 1].kernel);
	}
	free(all);
	free(totals);
}
