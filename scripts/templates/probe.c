// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* @NAME@ - @WHAT@ */
#include <stdio.h>
@!records|#include <stdlib.h>
#include "base/clock.h"
@hist|#include "base/escape.h"
@hist|#include "gpuprobe/gpuprobe_view.h"
#include "gpuprobe/gpuprobe_run.h"
#include "gpuprobe/site_row.h"
#include "ptx/instrument.h"
#include "session/tool.h"
#include "sym/demangle.h"
#include "@NAME@.ptx.h"

static const struct usage usage = {
@!records|	.args = "[interval [count]]",
	.what = "@HELP@",
	.examples =
	"  @NAME@ -- ./train 10             # what a command does\n"
	"  @NAME@ -K 'sgemm*' -- ./train    # in some kernels\n"
	"  @NAME@ -j -- ./train             # JSON lines\n",
};

struct probe {
	struct session session;
	struct event_loop events;
	struct gpuprobe gpuprobe;
	struct demangler names;
@!hist|	bool begun;		/* something is printed */
};

@hist|struct row { struct site_row site; struct site_hist hist; };
@counters|struct row { struct site_row site; unsigned long long @COUNTER0@, @COUNTER1@; };
@records|struct row { struct site_row site; unsigned long long clock, value, grid, block, warp, sm; };

@!records|OUT_WORD(row_type, "site");
@records|OUT_WORD(row_type, "record");

#define AT(f) offsetof(struct row, f)
@hist|static const struct field fields[] = {	/* for JSON; show() prints text */
@!hist|static const struct field fields[] = {
	{ "type", NULL, 0, &row_type, 0 },	/* what the probe took down at a site */
@!records|	{ "time", NULL, 0, OUT_TIME, AT(site.time) },
@hist|	{ "count", NULL, 0, OUT_UINT, AT(hist.totals.count) },	/* values */
@hist|	{ "total", NULL, 0, OUT_UINT, AT(hist.totals.total) },	/* of these */
@hist|	{ "min", NULL, 0, OUT_UINT, AT(hist.totals.spread.min) },	/* lowest */
@hist|	{ "p50", NULL, 0, OUT_UINT, AT(hist.totals.spread.p50) },	/* median */
@hist|	{ "p95", NULL, 0, OUT_UINT, AT(hist.totals.spread.p95) },	/* 95th percentile */
@hist|	{ "p99", NULL, 0, OUT_UINT, AT(hist.totals.spread.p99) },	/* 99th percentile */
@hist|	{ "max", NULL, 0, OUT_UINT, AT(hist.totals.spread.max) },	/* highest */
@hist|	{ "hist", NULL, 0, OUT_ROWS, AT(hist.hist) },	/* by value */
@counters|	{ "@COUNTER0@", "@HEAD0@", 10, OUT_UINT, AT(@COUNTER0@) },	/* the first counter */
@counters|	{ "@COUNTER1@", "@HEAD1@", 10, OUT_UINT, AT(@COUNTER1@) },	/* the second one */
@records|	{ "clock", "CLOCK", 16, OUT_UINT, AT(clock) },	/* ns: of the GPU */
@records|	{ "value", "VALUE", 10, OUT_UINT, AT(value) },	/* that the probe took down */
@records|	{ "grid", "GRID", 6, OUT_UINT, AT(grid) },	/* number of the launch */
@records|	{ "block", "BLOCK", 8, OUT_UINT, AT(block) },	/* number in the grid */
@records|	{ "warp", "WARP", 4, OUT_UINT, AT(warp) },	/* number in the block */
@records|	{ "sm", "SM", 4, OUT_UINT, AT(sm) },	/* number of the multiprocessor */
	SITE_OP_FIELDS,
	{ "bytes", NULL, 0, OUT_UINT, AT(site.bytes) },	/* bytes: per lane */
	SITE_PLACE_FIELDS,
	SITE_KERNEL_FIELDS,
	{ 0 }
};

/* What the probe needs of the library in the program. */
static const char *config(void *ctx, struct gpuprobe_config *c)
{
	(void)ctx;
	c->scheme = PTX_DEP;
@place|	c->spaces = PTX_GLOBAL | PTX_GENERIC | PTX_READONLY;
@access|	c->ops = PTX_LOAD | PTX_STORE | PTX_ATOMIC | PTX_REDUCE;
@timed|	c->ops = PTX_LOAD | PTX_ATOMIC;
@records|	c->limit = 8192;	/* records of a group of SMs between two readings */
	c->probe_size = sizeof(@NAME@_ptx) - 1;
	return @NAME@_ptx;
}

@hist|static void show(const struct row *r)
@!hist|static void show(struct probe *p, const struct row *r)
{
@hist|	if (out_is_json()) {
@hist|		out_row(fields, r);
@hist|		return;
@hist|	}
@hist|	escape_text(stdout, r->site.kernel);
@hist|	fputs(": ", stdout);
@hist|	gpuprobe_site_op(r->site.site);
@hist|	fputs(", ", stdout);
@hist|	gpuprobe_site_place(stdout, r->site.site);
@hist|	putchar('\n');
@hist|	site_hist_text(&r->hist, @UNIT@);
@!hist|	if (!p->begun)
@!hist|		out_head(fields);
@!hist|	p->begun = true;
@!hist|	out_row(fields, r);
}

@records|static void on_records(void *ctx, const struct gpuprobe_module *module)
@records|{
@records|	struct probe *p = ctx;
@records|
@records|	for (size_t i = 0; i < module->num_records; i++) {
@records|		const struct gpu_record *record = &module->records[i];
@records|		const struct site *site = &module->code->sites.site[record->site];
@records|
@records|		show(p, &(struct row){
@records|			.site = site_row(site, demangle_brief(&p->names, site->kernel), clock_ns()),
@records|			.clock = record->time, .value = record->value, .grid = record->grid, .block = record->block,
@records|			.warp = record->warp & 0xffff, .sm = record->smid,
@records|		});
@records|	}
@records|}
@records|
@!records|static int most_first(const void *a, const void *b)
@!records|{
@!records|	const struct gpuprobe_total *x = a, *y = b;
@!records|
@hist|	return (x->sum.count < y->sum.count) - (x->sum.count > y->sum.count);
@counters|	return (x->sum.hist[0] < y->sum.hist[0]) - (x->sum.hist[0] > y->sum.hist[0]);
@!records|}
@!records|
@!records|static void report(void *ctx)
@!records|{
@!records|	struct probe *p = ctx;
@!records|	size_t n;
@!records|	struct gpuprobe_total *totals = gpuprobe_totals(&p->gpuprobe.modules, most_first, &n);
@!records|
@!records|	if (!out_is_json())
@counters|		printf("%s[%s]%s\n", p->begun ? "\n" : "", out_clock(), n ? "" : " nothing measured");
@hist|		printf("[%s]%s\n", out_clock(), n ? "" : " nothing measured");
@counters|	p->begun = false;
@!records|	for (size_t i = 0; i < n; i++) {
@!records|		const struct site *site = &totals[i].code->sites.site[totals[i].site];
@!records|		struct row r = { .site = site_row(site, demangle_brief(&p->names, site->kernel), clock_ns()) };
@!records|
@counters|		r.@COUNTER0@ = totals[i].sum.hist[0];
@counters|		r.@COUNTER1@ = totals[i].sum.hist[1];
@hist|		site_hist(&r.hist, &totals[i]);
@hist|		show(&r);
@counters|		show(p, &r);
@!records|	}
@!records|	free(totals);
@!records|}
@!records|
@!records|static int finish(void *ctx, int sig)
@!records|{
@!records|	report(ctx);
@!records|	return sig;
@!records|}
@!records|
int main(int argc, char **argv)
{
	struct probe p = {
@!records|		.session = SESSION_INIT, .events = { .report = report, .ctx = &p },
@records|		.session = SESSION_INIT,
@!records|		.gpuprobe = { GPUPROBE_INIT, .config = config },
@records|		.gpuprobe = { GPUPROBE_INIT, .config = config, .records = on_records },
	};
	const struct opt opts[] = { OPT_GPU(&p.session, &p.gpuprobe), OPT_END };
	const struct tool tool = {
		.usage = &usage, .opts = opts, .session = &p.session, .events = &p.events,
@!records|		.gpuprobe = &p.gpuprobe, .interval = true, .stop = finish, .ctx = &p,
@records|		.gpuprobe = &p.gpuprobe, .ctx = &p,
	};

	return tool_run(&tool, argc, argv);
}
