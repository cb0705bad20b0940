/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "api/cuda_fn.h"
#include "cli/out.h"
#include "cli/row.h"
#include "elf/elf.h"
#include "probe/probe_source.h"
#include "session/probe_list.h"

struct probe_line {
	char *file;
	const char *layer, *func, *skipped;
	unsigned long long offset, step;
};

OUT_WORD(row_type, "probe");

static const struct field fields[] = {
	{ "type", NULL, 0, &row_type, 0 },	/* a probe, with --list */
	{ "file", "FILE", -40, OUT_STR, offsetof(struct probe_line, file) },	/* the file */
	{ "layer", "LAYER", -7, OUT_STR, offsetof(struct probe_line, layer) },	/* runtime, driver or usdt */
	{ "func", "FUNCTION", -36, OUT_STR, offsetof(struct probe_line, func) },	/* the function */
	{ "offset", "OFFSET", -12, OUT_PTR, offsetof(struct probe_line, offset) },	/* in the file */
	{ "step", "STEP", 4, OUT_UINT, offsetof(struct probe_line, step) },	/* bytes: from the symbol */
	{ "skipped", "SKIPPED", -1, OUT_STR, offsetof(struct probe_line, skipped) },	/* why there is no probe */
	{ 0 }
};

static struct probe_line *add(struct probe_list *list, const char *path)
{
	list->lines = xrealloc(list->lines, list->n + 1, sizeof(*list->lines));
	list->lines[list->n] = (struct probe_line){ .file = xstrdup(path), .offset = OUT_NONE,
						    .step = OUT_NONE };
	return &list->lines[list->n++];
}

void probe_list_probe(struct probe_list *list, const char *path, const struct function *fn,
		      const struct elf_probe *p, const char *skipped)
{
	struct probe_line *l = add(list, path);

	l->layer = cuda_lib_name(fn->lib);
	l->func = fn->name;
	l->offset = p->offset;
	l->step = p->offset - p->symbol;
	l->skipped = skipped;
}

void probe_list_file(struct probe_list *list, const char *path, const char *why)
{
	add(list, path)->skipped = why;
}

void probe_list_print(const struct probe_list *list)
{
	out_head(fields);
	for (int i = 0; i < list->n; i++)
		out_row(fields, &list->lines[i]);
	out_flush();
}

void probe_list_free(struct probe_list *list)
{
	for (int i = 0; i < list->n; i++)
		free(list->lines[i].file);
	free(list->lines);
	*list = (struct probe_list){ 0 };
}
