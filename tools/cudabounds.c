// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudabounds - find memory accesses in CUDA kernels that are outside of all allocations */
#include <stdio.h>
#include "base/clock.h"
#include "base/die.h"
#include "base/util.h"
#include "cli/out.h"
#include "cudabounds.ptx.h"
#include "gpuprobe/gpuprobe_run.h"
#include "gpuprobe/gpuprobe_view.h"
#include "gpuprobe/site_row.h"
#include "ptx/instrument.h"
#include "session/tool.h"
#include "sym/demangle.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Find memory accesses in CUDA kernels that are outside of all allocations of the program:\n"
		"what was found so far, every interval and at the end.  Needs no root.",
	.examples =
	"  cudabounds --blocks 1/64 -- ./train 1 # the accesses of every 64th block\n"
	"  cudabounds -r 20 -K 'add*' -- ./train 1 # more examples of each place\n"
	"  cudabounds -j -K 'add*' -- ./train 1 # JSON lines\n",
};

/* Of all sites. */
enum { OUTSIDE_MAX = 100000 };

/* An access outside of all allocations, by lanes of a warp; addr is that of one lane. */
struct outside {
	const struct gpuprobe_code *code;
	unsigned site, bytes, lanes, block, warp, grid;
	unsigned long long addr;
	unsigned long long low, size;	/* of the range below; 0, 0: none */
	bool faulted;		/* a kernel in its context has, after the last reading */
};

/* The first of two records. */
struct outside_half {
	const struct gpuprobe_module *module;
	bool there;
	struct outside first;
	UT_hash_handle hh;
};

struct probe {
	struct session session;
	struct event_loop events;
	struct gpuprobe gpuprobe;
	long examples;
	struct outside *at;
	size_t n;
	unsigned long long dropped;	/* beyond OUTSIDE_MAX, or with a lost half */
	struct outside_half *halves;	/* by module */
	struct demangler names;
};

static struct outside_half *half_of(struct probe *p, const struct gpuprobe_module *module)
{
	struct outside_half *half;

	HASH_FIND_PTR(p->halves, &module, half);
	if (!half) {
		half = xcalloc(1, sizeof(*half));
		half->module = module;
		HASH_ADD_PTR(p->halves, module, half);
	}
	return half;
}

static void add(struct probe *p, const struct outside *o)
{
	if (p->n == OUTSIDE_MAX) {
		p->dropped++;
		return;
	}
	if (!(p->n & (p->n - 1)))	/* room for 1, 2, 4 … */
		p->at = xrealloc(p->at, p->n ? 2 * p->n : 1, sizeof(*p->at));
	p->at[p->n++] = *o;
}

enum { CHECKED, OUTSIDE };	/* counters of the probe */

/* Counts an access whose counters went with the context. */
static void count_faulted(struct gpuprobe_sum *sum, unsigned lanes)
{
	sum->hist[CHECKED]++;
	sum->hist[OUTSIDE] += lanes;
	sum->count += 1 + lanes;
}

static void add_record(struct probe *p, struct outside_half *half, const struct gpu_record *r)
{
	struct outside *o = &half->first;

	if (r->value != GPU_BOUNDS) {
		p->dropped += half->there;
		half->there = true;
		*o = (struct outside){
			.code = half->module->code, .site = r->site, .bytes = r->value & 0xff, .lanes = r->value >> 8 & 0xff,
			.block = r->block, .warp = r->warp & 0xffff, .grid = r->grid, .addr = r->time,
			.faulted = half->module->faulted,
		};
	} else if (half->there && o->site == r->site && o->grid == r->grid) {
		half->there = false;
		o->low = r->time;
		o->size = r->warp | (unsigned long long)r->block << 32;
		if (o->faulted)
			count_faulted(&half->module->sums[o->site], o->lanes);
		add(p, o);
	} else {
		p->dropped++;
	}
}

/* Reads a module's records (gpu/cudabounds.gpu.c), which are untrusted. */
static void read_records(void *ctx, const struct gpuprobe_module *module)
{
	struct probe *p = ctx;
	struct outside_half *half = half_of(p, module);

	for (size_t i = 0; i < module->num_records; i++)
		add_record(p, half, &module->records[i]);
}

static void free_outsides(struct probe *p)
{
	HASH_FREE(p->halves);
	free(p->at);
}

struct line {
	struct site_row site;
	unsigned long long checked, outside, bytes, addr, low, size, lanes, block, warp, grid;
	bool faulted;
};

OUT_WORD(site_type, "site");
OUT_WORD(access_type, "access");

#define AT(f) offsetof(struct line, f)
static const struct field site_fields[] = {	/* for JSON */
	{ "type", NULL, 0, &site_type, 0 },	/* a site and its accesses */
	{ "time", NULL, 0, OUT_TIME, AT(site.time) },
	{ "checked", NULL, 0, OUT_UINT, AT(checked) },	/* accesses of warps */
	{ "outside", NULL, 0, OUT_UINT, AT(outside) },	/* lanes outside of all allocations */
	SITE_OP_FIELDS,
	SITE_PLACE_FIELDS,
	SITE_KERNEL_FIELDS,
	{ 0 }
};
static const struct field access_fields[] = {
	{ "type", NULL, 0, &access_type, 0 },	/* an access outside of all allocations */
	{ "time", NULL, 0, OUT_TIME, AT(site.time) },
	{ "addr", NULL, 0, OUT_PTR, AT(addr) },	/* accessed by a lane */
	{ "bytes", NULL, 0, OUT_UINT, AT(bytes) },	/* bytes: of a lane */
	{ "lanes", NULL, 0, OUT_UINT, AT(lanes) },	/* outside together */
	{ "below", NULL, 0, OUT_PTR, AT(low) },	/* the nearest allocation that starts below addr */
	{ "below_size", NULL, 0, OUT_UINT, AT(size) },	/* bytes: of it */
	{ "grid", NULL, 0, OUT_UINT, AT(grid) },	/* number of the launch */
	{ "block", NULL, 0, OUT_UINT, AT(block) },	/* number in the grid */
	{ "warp", NULL, 0, OUT_UINT, AT(warp) },	/* number in the block */
	{ "faulted", NULL, 0, OUT_BOOL, AT(faulted) },	/* one of the last accesses before a kernel faulted in the context */
	SITE_OP_FIELDS,
	SITE_PLACE_FIELDS,
	SITE_KERNEL_FIELDS,
	{ 0 }
};

static void site_text(const struct line *l)
{
	printf("%10llu  ", l->outside);
	gpuprobe_site_where(l->site.kernel, l->site.site);
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
	printf("; block %u, warp %u, %u lane%s%s\n", o->block, o->warp, o->lanes, plural(o->lanes),
	       o->faulted ? ", before the fault" : "");
}

static void access_json(struct line *l, const struct outside *o)
{
	l->addr = o->addr;
	l->bytes = o->bytes;
	l->lanes = o->lanes;
	l->low = o->low;
	l->size = o->size;
	l->grid = o->grid;
	l->faulted = o->faulted;
	l->block = o->block;
	l->warp = o->warp;
	out_row(access_fields, l);
}

/* Shows examples of a site: those before a fault, the last first, or the others.  Returns the number of all shown. */
static size_t show_examples(struct probe *p, const struct gpuprobe_total *t, struct line *l, bool faulted, size_t shown)
{
	for (size_t i = 0; l->outside && i < p->n && shown < (size_t)p->examples; i++) {
		const struct outside *o = &p->at[faulted ? p->n - 1 - i : i];

		if (o->code != t->code || o->site != t->site || o->faulted != faulted)
			continue;
		shown++;
		if (out_is_json())
			access_json(l, o);
		else
			access_text(o);
	}
	return shown;
}

static void show(struct probe *p, const struct gpuprobe_total *t)
{
	const struct site *site = &t->code->sites.site[t->site];
	struct line l = {
		.site = site_row(site, demangle_brief(&p->names, site->kernel), clock_ns()),
		.checked = t->sum.hist[CHECKED], .outside = t->sum.hist[OUTSIDE],
	};

	if (out_is_json())
		out_row(site_fields, &l);
	else if (l.outside)
		site_text(&l);
	show_examples(p, t, &l, false, show_examples(p, t, &l, true, 0));
}

static int by_outside(const void *a, const void *b)
{
	const struct gpuprobe_total *x = a, *y = b;

	return (x->sum.hist[OUTSIDE] < y->sum.hist[OUTSIDE]) - (x->sum.hist[OUTSIDE] > y->sum.hist[OUTSIDE]);
}

static void report(void *ctx)
{
	struct probe *p = ctx;
	unsigned long long checked = 0, outside = 0;
	size_t n;
	struct gpuprobe_total *totals = gpuprobe_totals(&p->gpuprobe.modules, by_outside, &n);

	for (size_t i = 0; i < n; i++) {
		checked += totals[i].sum.hist[CHECKED];
		outside += totals[i].sum.hist[OUTSIDE];
	}
	if (!out_is_json())
		printf("[%s] %llu access%s of warps checked, %llu of lanes outside of all allocations%s\n%s", out_clock(),
		       checked, checked == 1 ? "" : "es", outside, p->gpuprobe.modules.failure ? ", and others that could not be read" : "",
		       outside ? "     LANES  PLACE\n" : "");
	for (size_t i = 0; i < n; i++)
		show(p, &totals[i]);
	out_line_end();
	free(totals);
}

static const char *config(void *ctx, struct gpuprobe_config *c)
{
	(void)ctx;
	c->scheme = PTX_DEP;
	c->spaces = PTX_GLOBAL | PTX_GENERIC | PTX_READONLY;
	c->ops = PTX_LOAD | PTX_STORE | PTX_ATOMIC | PTX_REDUCE;
	c->flags |= GPUPROBE_RANGES;
	c->limit = 8192;	/* records of a group of SMs between two readings, two per access */
	c->probe_size = sizeof(cudabounds_ptx) - 1;
	return cudabounds_ptx;
}

static int finish(void *ctx, int sig)
{
	struct probe *p = ctx;

	report(p);
	if (p->dropped)
		warning(0, "%llu accesses left out of the examples", p->dropped);
	free_outsides(p);
	return sig;
}

int main(int argc, char **argv)
{
	struct probe p = {
		.session = SESSION_INIT,
		.events = { .report = report, .ctx = &p },
		.gpuprobe = { GPUPROBE_INIT, .config = config, .records = read_records },
		.examples = 3,
	};
	const struct opt opts[] = {
		OPT_GPU(&p.session, &p.gpuprobe),
		OPT_NUM('r', "rows", "ROWS", &p.examples, 1, "print at most ROWS examples of each place; default: 3"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .session = &p.session, .events = &p.events,
		.interval = true, .gpuprobe = &p.gpuprobe, .stop = finish, .ctx = &p,
	};

	return tool_run(&tool, argc, argv);
}
