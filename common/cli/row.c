/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
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

/* Makes the column narrower, to make up for what those before it took too much. */
static struct field narrow(const struct field *f, int over)
{
	struct field n = *f;

	n.width = abs(f->width) <= over ? 0 : f->width < 0 ? f->width + over : f->width - over;
	return n;
}

void out_text(FILE *file, const struct field *f, const void *row)
{
	const char *gap = "";
	int over = 0;

	for (; f->type; f++) {
		struct field n;
		int width = 0;

		if (!f->head)
			continue;
		fputs_unlocked(gap, file);
		if (over)
			n = narrow(f, over);
		if (f->type->text)
			width = f->type->text(file, over ? &n : f, (const char *)row + f->at);
		if (width > abs(f->width) - over)
			over += width - abs(f->width);
		else
			over = 0;
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

void out_object(const struct field *f, const void *row)
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
		out_object(f, row);
	else
		out_text(stdout, f, row);
	putchar('\n');
	for (; !out_is_json() && f->type; f++)
		if (f->type->text_below)
			f->type->text_below((const char *)row + f->at);
	out_line_end();
}

void out_block(const struct out_block *b, bool *first)
{
	const size_t max = b->max ? (size_t)b->max : out_is_json() ? b->n : (size_t)b->text_rows;

	if (!*first && !out_is_json())
		putchar('\n');
	*first = false;
	out_head(b->fields);
	for (size_t i = 0; i < b->n && i < max; i++)
		out_row(b->fields, (const char *)b->rows + i * b->size);
	if (b->n > max && !out_is_json())
		printf("... and %zu more\n", b->n - max);
	out_line_end();
}
