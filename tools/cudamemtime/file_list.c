/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "base/die.h"
#include "base/escape.h"
#include "base/util.h"
#include "cli/out.h"
#include "cli/row.h"
#include "cudamemtime/cost.h"
#include "cudamemtime/file_list.h"
#include "cudamemtime/ptx_file.h"
#include "cudamemtime/rewrite.h"
#include "cudamemtime/site_row.h"
#include "ptx/sites.h"

struct lister {
	struct rewrite rewrite;
	const struct file_list *list;
	bool verbose;
	unsigned image;		/* the number of the current one */
};

struct place {
	unsigned long long image, sm, line, bytes;
	const char *kernel, *symbol, *file, *kind, *space, *op;
};

OUT_WORD(place_type, "site");

#define AT(f) offsetof(struct place, f)
static const struct field fields[] = {	/* for JSON */
	{ "type", NULL, 0, &place_type, 0 },	/* a site in a file, with --list */
	{ "image", NULL, 0, OUT_UINT, AT(image) },	/* number of the image in the file */
	{ "sm", NULL, 0, OUT_UINT, AT(sm) },	/* that its PTX is for; null: a PTX file */
	{ "kernel", NULL, 0, OUT_STR, AT(kernel) },
	{ "symbol", NULL, 0, OUT_STR, AT(symbol) },
	{ "file", NULL, 0, OUT_STR, AT(file) },
	{ "line", NULL, 0, OUT_UINT, AT(line) },
	{ "kind", NULL, 0, OUT_STR, AT(kind) },
	{ "space", NULL, 0, OUT_STR, AT(space) },
	{ "op", NULL, 0, OUT_STR, AT(op) },
	{ "bytes", NULL, 0, OUT_UINT, AT(bytes) },
	{ 0 }
};

static void print(struct lister *l, unsigned sm, const struct site *site, bool first)
{
	const char *name = kernels_get(l->rewrite.kernels, site->kernel)->name;
	const struct place place = {
		.image = l->image, .sm = sm ? sm : NO_VALUE, .kernel = name, .symbol = site->kernel,
		.file = site->file, .line = site->file ? site->line : NO_VALUE, .kind = site->kind,
		.space = strcmp(site->space, "-") ? site->space : NULL, .op = site->op,
		.bytes = site->bytes ? site->bytes : NO_VALUE,
	};

	if (out_is_json()) {
		out_row(fields, &place);
		return;
	}
	if (first) {
		escape_text(stdout, name);
		putchar('\n');
	}
	fputs("  ", stdout);
	site_place(stdout, site);
	fputs(": ", stdout);
	escape_text(stdout, place.space ?: "");
	fputs(place.space ? " " : "", stdout);
	escape_text(stdout, site->kind);
	fputs(", ", stdout);
	escape_text(stdout, site->op);
	putchar('\n');
	out_line_end();
}

static void head(const struct lister *l, unsigned sm, const struct instrumented *done, const char *why)
{
	char name[32];

	if (out_is_json())
		return;
	snprintf(name, sizeof(name), sm ? "PTX for sm_%u" : "PTX", sm);
	printf("%simage %u, %s: ", l->image > 1 ? "\n" : "", l->image, name);
	if (why)
		printf("left alone: %s\n", why);
	else
		printf("%u place%s in %u kernel%s\n", done->sites, plural(done->sites), done->kernels,
		       plural(done->kernels));
}

static void image(void *ctx, unsigned sm, const char *text, size_t size)
{
	struct lister *l = ctx;
	struct instrumented done = { 0 };
	const char *why = rewrite_refuses(text, size), *wrong = NULL;
	struct sites sites = { 0 };

	l->image++;
	if (!why)
		why = rewrite_why(instrument_list(&done, text, size, &l->rewrite.options));
	if (!why)
		wrong = sites_read(&sites, done.text, done.size);
	if (wrong)
		die(0, "the table of places: %s", wrong);
	head(l, sm, &done, why);
	for (unsigned i = 0; i < sites.num; i++)
		print(l, sm, &sites.site[i], !i || strcmp(sites.site[i].kernel, sites.site[i - 1].kernel));
	sites_free(&sites);
	free(done.text);
	if (!why && l->verbose)
		cost_print(&l->rewrite, text, size, l->list->arch, l->image);
}

int file_list(const struct file_list *list, struct measure *m)
{
	struct lister l = { .list = list, .verbose = m->session.verbose };
	struct ptx_images found;
	struct ptx_file file;

	if (m->session.output)
		out_to_file(m->session.output);
	log_init(false, m->session.quiet);
	out_init(m->session.json);
	rewrite_init(&l.rewrite, m);
	ptx_file_open(&file, list->path);
	found = ptx_file_each(&file, image, &l);
	ptx_file_close(&file);
	rewrite_free(&l.rewrite);
	if (found.bad)
		warning(0, "%s: %u image%s could not be read", list->path, found.bad, plural(found.bad));
	if (found.other)
		warning(0, "%s: %u image%s machine code only: not measured", list->path, found.other,
			found.other == 1 ? " has" : "s have");
	if (!found.ptx && !found.other && !found.bad)
		warning(0, "%s: there is no PTX in it", list->path);
	return found.ptx ? EXIT_SUCCESS : EXIT_NOTHING;
}
