/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "api/cuda_fn.h"
#include "base/escape.h"
#include "cudaexporter/labels.h"
#include "cudaexporter/probed.h"
#include "elf/elf.h"
#include "probe/probe_source.h"

/* Returns what fn writes; the caller frees it. */
static char *written(void (*fn)(FILE *f, const char *a, const char *b), const char *a, const char *b)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		die(errno, "cannot write labels");
	fn(f, a, b);
	if (fclose(f))
		die(ENOMEM, "cannot write labels");
	return text;
}

static void write_reason(FILE *f, const char *why, const char *unused)
{
	(void)unused;
	fputs("reason=\"", f);
	label_value(f, why);
	fputc('"', f);
}

static void count_reason(struct probed *p, const char *why)
{
	struct probed_reason *r = p->reasons;

	while (r < p->reasons + PROBED_REASONS - 1 && r->why && strcmp(r->why, why))
		r++;
	if (!r->why) {
		r->why = r == p->reasons + PROBED_REASONS - 1 ? "other" : why;
		r->labels = written(write_reason, r->why, NULL);
	}
	r->n++;
}

static void write_file(FILE *f, const char *path, const char *rest)
{
	escape_text(f, path);
	fprintf(f, "  %s\n", rest);
}

static void add_line(struct probed *p, const char *path, char *rest)
{
	char **line;

	if (p->nlines < PROBED_LINES)
		p->lines = xrealloc(p->lines, p->nlines + 1, sizeof(*p->lines));
	line = &p->lines[p->nlines % PROBED_LINES];
	if (p->nlines++ >= PROBED_LINES)
		free(*line);
	*line = written(write_file, path, rest);
	free(rest);
}

void probed_function(struct probed *p, const char *path, const struct function *fn, const struct elf_probe *probe,
		     const char *skipped)
{
	if (skipped)
		count_reason(p, skipped);
	else if (fn->lib < CUDA_LIB_MAX)
		p->in[fn->lib]++;
	add_line(p, path, xprintf("%s %s %#llx%s%s", cuda_lib_name(fn->lib), fn->name, probe->offset,
				  skipped ? "  skipped: " : "", skipped ?: ""));
}

void probed_file(struct probed *p, const char *path, const char *why)
{
	count_reason(p, why);
	add_line(p, path, xprintf("skipped: %s", why));
}

void probed_collect(struct probed *p, struct series_table *t, struct owner *owner)
{
	for (int lib = 0; lib < CUDA_LIB_MAX; lib++) {
		if (!p->labels[lib])
			p->labels[lib] = xprintf("layer=\"%s\",kind=\"%s\"", cuda_lib_name(lib), p->kind);
		series_add(t, owner, METRIC_PROBES,
			   (struct metric_labels){ 0, (unsigned long long)p->labels[lib] }, p->in[lib]);
	}
	for (struct probed_reason *r = p->reasons; r < p->reasons + PROBED_REASONS && r->why; r++)
		series_count_live(t, owner, METRIC_PROBE_FAILURES,
				  (struct metric_labels){ 0, (unsigned long long)r->labels }, r->n);
}

void probed_print(const struct probed *p, FILE *f)
{
	unsigned first = p->nlines > PROBED_LINES ? p->nlines - PROBED_LINES : 0;

	if (first)
		fputs("...\n", f);
	for (unsigned i = first; i < p->nlines; i++)
		fputs(p->lines[i % PROBED_LINES], f);
}

void probed_free(struct probed *p)
{
	for (unsigned i = 0; i < p->nlines && i < PROBED_LINES; i++)
		free(p->lines[i]);
	free(p->lines);
	for (int i = 0; i < PROBED_REASONS; i++)
		free(p->reasons[i].labels);
	for (int lib = 0; lib < CUDA_LIB_MAX; lib++)
		free(p->labels[lib]);
}
