/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdio.h>
#include "cli/out.h"
#include "cli/row.h"

void out_text_head(FILE *file, const struct field *f)
{
	const char *gap = "";

	for (; f->type; f++) {
		if (!f->head)
			continue;
		fprintf(file, "%s%*s", gap, f->width, f->head);
		gap = " ";
	}
}

void out_text(FILE *file, const struct field *f, const void *row)
{
	const char *gap = "";

	for (; f->type; f++) {
		if (!f->head)
			continue;
		fputs_unlocked(gap, file);
		if (f->type->text)
			f->type->text(file, f, (const char *)row + f->at);
		gap = " ";
	}
}

void out_head(const struct field *f)
{
	if (out_is_json())
		return;
	out_text_head(stdout, f);
	putchar('\n');
}

static void json_row(const struct field *f, const void *row)
{
	const char *gap = "{\"";

	for (; f->type; f++) {
		if (!f->key)
			continue;
		fputs_unlocked(gap, stdout);
		fputs_unlocked(f->key, stdout);
		fputs_unlocked("\":", stdout);
		f->type->json((const char *)row + f->at);
		gap = ",\"";
	}
	putchar('}');
}

void out_row(const struct field *f, const void *row)
{
	if (out_is_json())
		json_row(f, row);
	else
		out_text(stdout, f, row);
	putchar('\n');
	for (; !out_is_json() && f->type; f++)
		if (f->type->text_below)
			f->type->text_below((const char *)row + f->at);
	out_line_end();
}
