/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/die.h"
#include "base/escape.h"
#include "base/util.h"
#include "cli/out.h"
#include "cli/out_file.h"
#include "cudamemtime/files.h"
#include "cudamemtime/ptx_file.h"
#include "cudamemtime/rewrite_file.h"
#include "cudamemtime/site_report.h"
#include "gpuprobe/gpuprobe_view.h"
#include "gpuprobe/site_row.h"

struct lister {
	struct rewrite rewrite;
	const struct file_list *list;
	bool verbose;
	unsigned image;		/* the number of the current one */
};

struct site_line {
	struct site_row site;
	unsigned long long image, sm;
};

OUT_WORD(site_type, "site");

#define AT(f) offsetof(struct site_line, f)
static const struct field fields[] = {	/* for JSON */
	{ "type", NULL, 0, &site_type, 0 },	/* a site in a file, with --list */
	{ "image", NULL, 0, OUT_UINT, AT(image) },	/* number of the image in the file */
	{ "sm", NULL, 0, OUT_UINT, AT(sm) },	/* that its PTX is for; null: a PTX file */
	SITE_KERNEL_FIELDS,
	SITE_PLACE_FIELDS,
	SITE_OP_FIELDS,
	{ "bytes", NULL, 0, OUT_UINT, AT(site.bytes) },	/* bytes: per lane */
	{ 0 }
};

static void files_print(struct lister *l, unsigned sm, const struct site *site, bool first)
{
	const char *name = kernels_get(l->rewrite.kernels, site->kernel)->name;
	const struct site_line line = {
		.site = site_row(site, name, 0), .image = l->image, .sm = sm ? sm : OUT_NONE,
	};

	if (out_is_json()) {
		out_row(fields, &line);
		return;
	}
	if (first) {
		escape_text(stdout, name);
		putchar('\n');
	}
	fputs("  ", stdout);
	gpuprobe_site_place(stdout, site);
	fputs(": ", stdout);
	gpuprobe_site_op(site);
	putchar('\n');
	out_line_end();
}

static void files_head(const struct lister *l, unsigned sm, const struct instrumented *done, const char *why)
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
	files_head(l, sm, &done, why);
	for (unsigned i = 0; i < sites.num; i++)
		files_print(l, sm, &sites.site[i], !i || strcmp(sites.site[i].kernel, sites.site[i - 1].kernel));
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

struct patcher {
	struct rewrite rewrite;
	unsigned containers, kernels, sites;	/* changed */
	unsigned too_large;
	size_t room[2];		/* bytes that may still be unpacked: plain, and packed */
};

static char *rewrite_text(struct patcher *p, const char *name, const char *text, size_t *size)
{
	struct instrumented done = { 0 };
	size_t n = strnlen(text, *size);
	const char *why = rewrite_refuses(text, n);

	if (!why)
		why = rewrite_why(instrument(&done, text, n, &p->rewrite.options));
	if (why) {
		warning(0, "%s left alone: %s", name, why);
		return NULL;
	}
	p->kernels += done.kernels;
	p->sites += done.sites;
	*size = done.size;
	return done.text;
}

static char *rewrite_image(void *ctx, const struct fatbin_image *image, const char *text, size_t *size)
{
	char name[32];

	snprintf(name, sizeof(name), "PTX for sm_%u", image->sm);
	return rewrite_text(ctx, name, text, size);
}

/* Replaces a container of `old` bytes. */
static bool put(struct ptx_file *file, size_t at, size_t old, const void *new, size_t size)
{
	if (size > old)
		return false;
	memcpy(file->data + at, new, size);
	memset(file->data + at + size, 0, old - size);
	return true;
}

static void files_container(struct patcher *p, struct ptx_file *file, size_t at, size_t size)
{
	struct fatbin_edit edit = { .ptx = rewrite_image, .ctx = p, .max = size };
	const unsigned kernels = p->kernels, sites = p->sites;
	bool fits = false, too_large = false;

	/* packed only if it is too large otherwise, to spare the driver unpacking it */
	for (int pack = 0; pack < 2 && !fits; pack++) {
		const char *why = NULL;
		char part[48];
		size_t n = 0;
		void *new;

		p->kernels = kernels;
		p->sites = sites;
		edit.pack = pack;
		edit.room = &p->room[pack];
		new = fatbin_edit(file->data + at, size, &edit, &n, &why);
		fits = new && put(file, at, size, new, n);
		too_large = n > size;
		if (!new && !too_large) {
			snprintf(part, sizeof(part), "the fat binary at 0x%zx", at);
			if (why)
				ptx_file_warning(file, part, why);
			break;
		}
		free(new);
	}
	p->containers += fits;
	p->too_large += too_large && !fits;
	if (!fits) {
		p->kernels = kernels;
		p->sites = sites;
	}
}

static void write_copy(const char *in, const char *path, const char *data, size_t size)
{
	int fd = out_file_open(path);
	struct stat st;

	for (size_t at = 0; at < size; ) {
		ssize_t n = write(fd, data + at, size - at);

		if (n < 0 && errno != EINTR)
			die(errno, "cannot write to %s", path);
		at += n > 0 ? n : 0;
	}
	if (!stat(in, &st) && fchmod(fd, st.st_mode & 0777))
		die(errno, "cannot make %s executable", path);
	if (close(fd))
		die(errno, "cannot write to %s", path);
}

static bool is_same(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void patch_containers(struct patcher *p, struct ptx_file *file, const char *out)
{
	size_t at = 0, n;

	p->room[0] = p->room[1] = file->room;
	for (; p->room[0] && p->room[1] && (n = fatbin_find(file->data, file->size, &at)); at += n)
		files_container(p, file, at, n);
	if (p->too_large)
		warning(0, "%s: %u fat binar%s not fit with probes in: left alone", file->path, p->too_large,
			p->too_large == 1 ? "y does" : "ies do");
	if (p->containers)
		write_copy(file->path, out, file->data, file->size);
}

static void patch_text(struct patcher *p, const struct ptx_file *file, const char *out)
{
	char *text = strndup(file->data, file->size), *new;
	size_t size = file->size;

	if (!text)
		die(ENOMEM, "%zu bytes", size);
	new = rewrite_text(p, file->path, text, &size);
	if (new)
		write_copy(file->path, out, new, size);
	free(new);
	free(text);
}

int file_patch(const struct file_patch *patch, struct measure *m)
{
	struct patcher p = { 0 };
	struct ptx_file file;

	log_init(m->session.verbose, m->session.quiet);
	if (is_same(patch->in, patch->out))
		usage_error("--patch: %s and %s are the same file", patch->in, patch->out);
	rewrite_init(&p.rewrite, m);
	ptx_file_open(&file, patch->in);
	if (ptx_file_is_text(&file))
		patch_text(&p, &file, patch->out);
	else
		patch_containers(&p, &file, patch->out);
	ptx_file_close(&file);
	rewrite_free(&p.rewrite);
	if (!p.kernels) {
		warning(0, "%s: nothing to change", patch->in);
		return EXIT_NOTHING;
	}
	if (m->session.verbose)
		note("%s: %u kernel%s, %u place%s", patch->out, p.kernels, plural(p.kernels), p.sites, plural(p.sites));
	return EXIT_SUCCESS;
}
