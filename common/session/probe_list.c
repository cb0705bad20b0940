/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "probe/probe_source.h"
#include "base/die.h"
#include "api/cuda_fn.h"
#include "cli/out.h"
#include "session/probe_list.h"

struct line {
	const char *file, *layer, *func, *skipped;
	unsigned long long offset, step;
};

static const struct field fields[] = {
	{ "file", "FILE", -40, OUT_STR, offsetof(struct line, file) },
	{ "layer", "LAYER", -7, OUT_STR, offsetof(struct line, layer) },
	{ "func", "FUNCTION", -36, OUT_STR, offsetof(struct line, func) },
	{ "offset", "OFFSET", -12, OUT_PTR, offsetof(struct line, offset) },
	{ "step", "STEP", 4, OUT_UINT, offsetof(struct line, step) },
	{ "skipped", "SKIPPED", -1, OUT_STR, offsetof(struct line, skipped) },
	{ 0 }
};

static bool on;
static struct line *lines;
static int n;

void probe_list_init(bool yes)
{
	on = yes;
}

static struct line *add(const char *path)
{
	lines = xrealloc(lines, n + 1, sizeof(*lines));
	lines[n] = (struct line){ .file = xstrdup(path), .offset = OUT_NONE, .step = OUT_NONE };
	return &lines[n++];
}

void probe_list_probe(const char *path, const struct function *fn, const struct elf_probe *p,
		  const char *skipped)
{
	struct line *l;

	if (!on)
		return;
	l = add(path);
	l->layer = cuda_lib_name(fn->lib);
	l->func = fn->name;
	l->offset = p->offset;
	l->step = p->offset - p->symbol;
	l->skipped = skipped;
}

void probe_list_file(const char *path, const char *why)
{
	if (on)
		add(path)->skipped = why;
}

void probe_list_print(void)
{
	out_head(fields);
	for (int i = 0; i < n; i++)
		out_row(fields, &lines[i]);
	out_flush();
}
