// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudacoalesce - show which memory accesses in CUDA kernels are not coalesced */
#include <stdio.h>
#include "abi/gpu_variables.h"
#include "base/clock.h"
#include "cli/out.h"
#include "ptx/instrument.h"
#include "gpuprobe/gpuprobe_run.h"
#include "session/tool.h"
#include "sym/demangle.h"
#include "gpuprobe/gpuprobe_view.h"
#include "gpuprobe/site_row.h"
#include "cudacoalesce.ptx.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show how many lines and sectors of memory warps touch in each access, those that waste\n"
		"the most memory traffic first: what was counted so far, every interval and at the end.\n"
		"Needs no root.",
	.examples =
	"  cudacoalesce --blocks 1/64 -- ./train 1 # the accesses of every 64th block\n"
	"  cudacoalesce --below 50 -H -K 'add*' -- ./train 1 # the worst, with histograms\n"
	"  cudacoalesce -j -K 'add*' -- ./train 1 # JSON lines\n",
};

struct probe {
	struct session session;
	struct event_loop events;
	struct gpuprobe gpuprobe;
	long below;		/* percent: only less efficient sites are printed */
	bool hist;		/* in text, too */
	struct demangler names;
};

enum { SECTOR = 32, STARS = 40 };

struct line {
	struct site_row site;
	const struct gpuprobe_total *total;
	unsigned long long accesses, requested, moved;
	double lines, sectors, efficiency;	/* of an access; percent */
	struct out_print hist;
};

OUT_WORD(row_type, "site");

#define AT(f) offsetof(struct line, f)
static const struct field fields[] = {	/* for JSON */
	{ "type", NULL, 0, &row_type, 0 },	/* accesses of a site in a kernel */
	{ "time", NULL, 0, OUT_TIME, AT(site.time) },
	{ "accesses", NULL, 0, OUT_UINT, AT(accesses) },	/* of groups of lanes */
	{ "lines", NULL, 0, OUT_REAL, AT(lines) },	/* 128-byte lines per access, on average */
	{ "sectors", NULL, 0, OUT_REAL, AT(sectors) },	/* 32-byte sectors per access, on average */
	{ "requested", NULL, 0, OUT_UINT, AT(requested) },	/* bytes: requested by the lanes */
	{ "moved", NULL, 0, OUT_UINT, AT(moved) },	/* bytes: of all sectors */
	{ "efficiency", NULL, 0, OUT_REAL, AT(efficiency) },	/* percent: requested divided by moved */
	{ "hist", NULL, 0, OUT_PRINT, AT(hist) },	/* histogram: accesses by lines; from 17 on in pairs */
	SITE_OP_FIELDS,
	{ "bytes", NULL, 0, OUT_UINT, AT(site.bytes) },	/* bytes: per lane */
	SITE_PLACE_FIELDS,
	SITE_KERNEL_FIELDS,
	{ 0 }
};

static unsigned high(unsigned bucket)
{
	return gpu_lines_low(bucket) + (bucket >= GPU_LINES_EXACT);
}

static void spread_json(FILE *f, const void *of)
{
	const struct gpuprobe_total *t = of;
	const char *gap = "";

	putc('[', f);
	for (unsigned i = 0; i < GPU_LINES_BUCKETS; i++) {
		if (!t->sum.hist[i])
			continue;
		fprintf(f, "%s[%u,%u,%llu]", gap, gpu_lines_low(i), high(i), t->sum.hist[i]);
		gap = ",";
	}
	putc(']', f);
}

static void spread_text(const struct line *l)
{
	unsigned long long most = 1;

	for (unsigned i = 0; i < GPU_LINES_BUCKETS; i++)
		most = l->total->sum.hist[i] > most ? l->total->sum.hist[i] : most;
	for (unsigned i = 0; i < GPU_LINES_BUCKETS; i++) {
		unsigned long long n = l->total->sum.hist[i];
		int stars = (double)STARS * n / most;

		if (!n)
			continue;
		printf("%9u -> %-5u : %-8llu |%.*s%*s|\n", gpu_lines_low(i), high(i), n, stars,
		       "****************************************", STARS - stars, "");
	}
}

/* Without the name of the kernel. */
static struct line line_of(const struct gpuprobe_total *t, unsigned long long now)
{
	const unsigned long long *n = t->sum.hist;
	struct line l = {
		.site = site_row(&t->code->sites.site[t->site], NULL, now), .total = t, .requested = n[GPU_REQUESTED],
		.moved = n[GPU_SECTORS] * SECTOR, .efficiency = 100, .hist = { spread_json, t },
	};

	for (unsigned i = 0; i < GPU_LINES_BUCKETS; i++)
		l.accesses += n[i];
	if (l.accesses) {
		l.lines = (double)n[GPU_LINES] / l.accesses;
		l.sectors = (double)n[GPU_SECTORS] / l.accesses;
	}
	if (l.requested < l.moved)	/* lanes that share a word request more bytes than are moved */
		l.efficiency = 100.0 * l.requested / l.moved;
	return l;
}

static unsigned long long wasted(const struct line *l)
{
	return l->moved > l->requested ? l->moved - l->requested : 0;
}

static int by_waste(const void *a, const void *b)
{
	unsigned long long x = wasted(a), y = wasted(b);
	const struct line *k = a, *l = b;

	return (x < y) - (x > y) ?: (k->accesses < l->accesses) - (k->accesses > l->accesses);
}

static void print_text(struct probe *p, const struct line *l)
{
	printf("%10llu %6.1f %8.1f %9.0f%% %10s  ", l->accesses, l->lines, l->sectors, l->efficiency, out_bytes(wasted(l)));
	gpuprobe_site_where(l->site.kernel, l->site.site);
	if (p->hist)
		spread_text(l);
}

/* Prints a row for each site, by wasted memory traffic. */
static void report(void *ctx)
{
	struct probe *p = ctx;
	unsigned long long now = clock_ns();
	size_t n, shown = 0;
	struct gpuprobe_total *totals = gpuprobe_totals(&p->gpuprobe.modules, NULL, &n);
	struct line *lines = xcalloc(n + 1, sizeof(*lines));

	for (size_t i = 0; i < n; i++) {
		lines[shown] = line_of(&totals[i], now);
		shown += lines[shown].efficiency < p->below || p->below > 100;
	}
	qsort(lines, shown, sizeof(*lines), by_waste);
	if (!out_is_json()) {
		printf("[%s]%s\n", out_clock(), shown ? "" : n ? " no such accesses" : " no accesses measured");
		if (shown)
			puts("  ACCESSES  LINES  SECTORS EFFICIENCY     WASTED  PLACE");
	}
	for (size_t i = 0; i < shown; i++) {
		lines[i].site.kernel = demangle_brief(&p->names, lines[i].site.symbol);
		if (out_is_json())
			out_row(fields, &lines[i]);
		else
			print_text(p, &lines[i]);
	}
	out_line_end();
	free(lines);
	free(totals);
}

static const char *config(void *ctx, struct gpuprobe_config *c)
{
	(void)ctx;
	c->scheme = PTX_DEP;
	c->spaces = PTX_GLOBAL | PTX_GENERIC | PTX_READONLY;
	c->ops = PTX_LOAD | PTX_STORE | PTX_ATOMIC | PTX_REDUCE;
	c->probe_size = sizeof(cudacoalesce_ptx) - 1;
	return cudacoalesce_ptx;
}

static int finish(void *ctx, int sig)
{
	report(ctx);
	return sig;
}

int main(int argc, char **argv)
{
	struct probe p = {
		.session = SESSION_INIT,
		.events = { .report = report, .ctx = &p },
		.gpuprobe = { GPUPROBE_INIT, .config = config },
		.below = 101,
	};
	const struct opt opts[] = {
		OPT_GPU(&p.session, &p.gpuprobe),
		OPT_NUM(0, "below", "PERCENT", &p.below, 1, "only accesses with less efficiency than PERCENT"),
		OPT_FLAG('H', "hist", &p.hist, "print histograms of lines, too"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .session = &p.session, .events = &p.events,
		.interval = true, .gpuprobe = &p.gpuprobe, .stop = finish, .ctx = &p,
	};

	return tool_run(&tool, argc, argv);
}
