/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "cudabt/bt_writer.h"

enum { MAX_WORK = 32 << 20 };

void bt_writer_begin(struct bt_writer *w, struct bt_script *s, const bool *present)
{
	*w = (struct bt_writer){ .s = s, .present = present, .counted = s->text };
	for (int i = 0; i < BT_STREAMS; i++)
		w->to[i] = open_memstream(&w->text[i], &w->size[i]);
}

void bt_writer_end(struct bt_writer *w)
{
	for (int i = 0; i < BT_STREAMS; i++)
		fclose(w->to[i]);
}

void bt_writer_free(struct bt_writer *w)
{
	for (int i = 0; i < BT_STREAMS; i++)
		free(w->text[i]);
	bt_tables_free(&w->tables);
}

/* A short program can have patterns that match a lot: nobody needs a million stars. */
bool bt_writer_affords(struct bt_writer *w, const struct bt_part *part, size_t work)
{
	w->work += work;
	return w->work <= MAX_WORK ||
	       bt_fail(&w->s->error, part->start, "expands to a script that is too large");
}

FILE *bt_writer_copy(struct bt_writer *w)
{
	return w->to[w->any ? BT_MAIN : BT_HEAD];
}

int bt_writer_line(struct bt_writer *w, const char *at)
{
	for (; w->counted < at; w->counted++)
		w->line += *w->counted == '\n';
	return w->line + 1;
}
