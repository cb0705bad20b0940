/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "base/die.h"
#include "base/escape.h"
#include "base/util.h"
#include "cli/out.h"
#include "cli/row.h"
#include "gpuprobe/gpuprobe_view.h"

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

/* Names of kernels, or reasons, printed for one status without -v. */
enum { TEXTS = 3 };

/* By enum gpuprobe_status: the word in JSON; what the images "have" or "are", of one and of several; whether its
 * texts are reasons. */
static const struct {
	const char *word, *one, *several;
	bool reasons;
} statuses[] = {
	[GPUPROBE_DONE] = { "measured", "is measured", "are measured", false },
	[GPUPROBE_NO_SITES] = { "no_sites", "has nothing that was selected", "have nothing that was selected", false },
	[GPUPROBE_NO_PTX] = { "no_ptx", "has machine code only", "have machine code only", false },
	[GPUPROBE_NEWER] = { "newer", "has only PTX for later devices", "have only PTX for later devices", true },
	[GPUPROBE_TOO_MANY] = { "too_many_sites", "has more places to measure than --max-sites",
			      "have more places to measure than --max-sites", false },
	[GPUPROBE_OLD] = { "old", "has PTX for devices before sm_70", "have PTX for devices before sm_70", false },
	[GPUPROBE_LINKED] = { "linked", "is linked when loaded", "are linked when loaded", true },
	[GPUPROBE_BAD] = { "failed", "could not be rewritten", "could not be rewritten", true },
	[GPUPROBE_THERE] = { "rewritten_before", "was rewritten before", "were rewritten before", false },
};

_Static_assert(sizeof(statuses) / sizeof(*statuses) == GPUPROBE_STATUSES, "enum gpuprobe_status");

static void texts(const struct gpuprobe_image_count *c, bool verbose)
{
	unsigned n = verbose || c->num_texts < TEXTS ? c->num_texts : TEXTS;

	for (unsigned i = 0; i < n; i++) {
		char *text = xstrdup(c->text[i].text);

		for (char *p = text; (p = strchr(p, '\n')); )
			*p = p[1] ? ' ' : '\0';
		warning(0, "  %s", text);
		free(text);
	}
	if (n < c->num_texts)
		warning(0, "  and %u more (-v)", c->num_texts - n);
}

static void status(const struct gpuprobe_image_count *c, int i, bool verbose)
{
	const char *what = c->images == 1 ? statuses[i].one : statuses[i].several;
	bool missed = i != GPUPROBE_DONE && i != GPUPROBE_NO_SITES && i != GPUPROBE_THERE;

	if (!c->images || (!missed && !verbose))
		return;
	if (missed && c->kernels)
		warning(0, "%llu image%s %s: %llu kernel%s not measured", c->images, plural(c->images), what,
			c->kernels, plural(c->kernels));
	else if (missed)
		warning(0, "%llu image%s %s: not measured", c->images, plural(c->images), what);
	else
		note("%llu image%s %s: %llu kernel%s, %llu place%s; rewriting took %.1f ms", c->images,
		     plural(c->images), what, c->kernels, plural(c->kernels), c->sites, plural(c->sites),
		     c->ns / 1e6);
	if (statuses[i].reasons || verbose)
		texts(c, verbose);
}

static void images(const struct gpuprobe_images *all, bool verbose)
{
	unsigned long long fewer = all->by[GPUPROBE_DONE].fewer_warps;

	for (int i = 0; i < GPUPROBE_STATUSES; i++)
		status(&all->by[i], i, verbose);
	if (all->images && !all->by[GPUPROBE_DONE].images && !all->by[GPUPROBE_THERE].images)
		warning(0, "no image could be measured");
	if (fewer)
		warning(0, "%llu kernel%s fewer resident warps than without the probes: see --keep-registers", fewer,
			fewer == 1 ? " has" : "s have");
}

/* The losses of all modules. */
struct losses {
	unsigned long long lost, dropped, failed;
};

static struct losses losses_of(const struct gpuprobe_modules *m)
{
	struct losses all = { .failed = m->failed };
	const struct gpuprobe_module *module;

	gpuprobe_for_each_module(m, module) {
		all.lost += module->lost;
		all.dropped += module->dropped;
		all.failed += module->failed;
	}
	return all;
}

static void gpuprobe_view_lost(const struct gpuprobe_modules *m)
{
	const struct losses l = losses_of(m);

	if (l.lost)
		warning(0, "lost %llu record%s: overwritten before they were read; a shorter --period loses fewer", l.lost,
			plural(l.lost));
	if (l.dropped)
		warning(0, "lost %llu record%s: only %d are kept", l.dropped, plural(l.dropped), GPU_RECORDS_MAX);
	if (m->refused)
		warning(0, "%llu module%s not measured: too many of them, or too large", m->refused,
			m->refused == 1 ? " was" : "s were");
	if (l.failed)
		warning(0, "%llu reading%s failed: %s", l.failed, plural(l.failed), m->failure ?: "unknown error");
}

static void warnings(const struct gpuprobe_modules *m)
{
	for (int i = 0; i < GPU_WARNINGS && m->warnings[i]; i++)
		warning(0, "%s", m->warnings[i]);
}

static void processes(const struct gpuprobe_modules *m, unsigned left)
{
	unsigned killed = 0;

	for (const struct gpuprobe_process *p = m->first; p; p = p->next)
		killed += !p->ended;
	killed -= left < killed ? left : killed;
	if (left)
		warning(0, "%u process%s still running: what is newer than the last reading is missing", left,
			left == 1 ? " is" : "es are");
	if (killed)
		warning(0, "%u process%s killed, or ended without exit(): what was newer than the last reading is missing",
			killed, killed == 1 ? " was" : "es were");
}

struct image_row {
	const char *status;
	unsigned long long images, kernels, sites, ns;
};

OUT_WORD(row_type, "images");

#define AT(f) offsetof(struct image_row, f)
static const struct field fields[] = {	/* for JSON */
	{ "type", NULL, 0, &row_type, 0 },	/* images of GPU code with the same status, at the end */
	{ "status", NULL, 0, OUT_STR, AT(status) },	/* measured, or why not: see cudamemtime(8) */
	{ "images", NULL, 0, OUT_UINT, AT(images) },	/* with this status */
	{ "kernels", NULL, 0, OUT_UINT, AT(kernels) },	/* in them */
	{ "sites", NULL, 0, OUT_UINT, AT(sites) },	/* in them */
	{ "rewrite_ns", NULL, 0, OUT_UINT, AT(ns) },	/* ns: taken to rewrite them */
	{ 0 }
};

/* An object per status. */
static void print_json(const struct gpuprobe_images *all)
{
	for (int i = 0; i < GPUPROBE_STATUSES; i++) {
		const struct gpuprobe_image_count *c = &all->by[i];

		if (c->images)
			out_row(fields, &(struct image_row){ statuses[i].word, c->images, c->kernels, c->sites, c->ns });
	}
}

void gpuprobe_notes(const struct gpuprobe_modules *m, unsigned left, bool verbose)
{
	if (out_is_json())
		print_json(&m->images);
	images(&m->images, verbose);
	gpuprobe_view_lost(m);
	warnings(m);
	processes(m, left);
}
