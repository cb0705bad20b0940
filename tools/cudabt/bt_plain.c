/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "cudabt/bt_body.h"
#include "cudabt/bt_plain.h"

/* Returns NULL with *e set on an error. */
static char *text_of(const char *p, const char *stop, struct bt_tables *tables, struct bt_error *e)
{
	struct bt_body body = { .tables = tables };
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	bool ok = bt_body(&body, p, stop, f, e) == BT_DONE;

	fclose(f);
	if (ok)
		return text;
	free(text);
	return NULL;
}

static void write_points(struct bt_writer *w, const struct bt_part *part, const char *pred,
			 const char *text)
{
	FILE *out = bt_writer_copy(w);
	int n = 0;

	for (int i = 0; i < part->n; i++) {
		const struct bt_token name = { BT_WORD, part->items[i].s, part->items[i].len };

		if (part->items[i].call != BT_PLAIN)
			continue;
		if (bt_is(&name, "BEGIN") || bt_is(&name, "END"))
			bt_print_if(w->to[*name.s == 'B' ? BT_AT_BEGIN : BT_AT_END], pred, text);
		else
			fprintf(out, "%s%.*s", n++ ? ",\n" : "", (int)name.len, name.s);
	}
	if (n && pred)
		fprintf(out, " /%s/", pred);
	if (n)
		fprintf(out, " {%s}%s", text, n < part->n ? "\n" : "");
}

bool bt_plain(struct bt_writer *w, const struct bt_part *part)
{
	struct bt_error *e = &w->s->error;
	char *pred = part->pred ? text_of(part->pred, part->pred_end, &w->tables, e) : NULL;
	char *text = e->at ? NULL : text_of(part->body, part->body_end, &w->tables, e);

	if (text)
		write_points(w, part, pred, text);
	free(pred);
	free(text);
	return !e->at;
}
