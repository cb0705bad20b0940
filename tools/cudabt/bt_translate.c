/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "cudabt/bt_cuda.h"
#include "cudabt/bt_plain.h"
#include "cudabt/bt_translate.h"
#include "cudabt/bt_writer.h"

static bool has(const struct bt_part *part, enum bt_call call)
{
	for (int i = 0; i < part->n; i++)
		if (part->items[i].call == call)
			return true;
	return false;
}

static bool write_part(struct bt_writer *w, const struct bt_part *part)
{
	if (!part->n) {
		fwrite(part->start, 1, part->end - part->start, bt_writer_copy(w));
		return true;
	}
	w->probes++;
	return bt_cuda_find(w, part) &&
	       (!has(part, BT_PLAIN) || bt_plain(w, part)) &&
	       (!has(part, BT_CALL) || bt_cuda(w, part, BT_CALL)) &&
	       (!has(part, BT_RETURN) || bt_cuda(w, part, BT_RETURN));
}

static bool write_parts(struct bt_writer *w)
{
	struct bt_script *s = w->s;
	const char *p = s->text, *end = p + s->len;
	struct bt_part part;
	bool ok = true;

	if (memchr(p, 0, s->len))
		return bt_fail(&s->error, memchr(p, 0, s->len), "NUL byte: not a program text");
	if (s->len > 1 && !memcmp(p, "#!", 2)) {	/* the script's interpreter line */
		while (p < end && *p != '\n')
			p++;
	}
	for (; ok && p < end; p = part.end) {
		if (!bt_parse(p, end, &part, &s->error))
			return false;
		ok = write_part(w, &part);
		free(part.items);
	}
	if (ok && !w->any)
		ok = bt_fail(&s->error, s->text, "no cuda: or cudaret: probe in the program");
	return ok;
}

/* BEGIN or END with its actions; nothing if there are none. */
static char *section(const char *head, const char *first, const char *second)
{
	return *first || *second ? xprintf("\n%s\n{\n%s%s}\n", head, first, second) : xstrdup("");
}

/* BEGIN comes before the probes: newer versions of bpftrace want to know what a map holds before it is
 * part of another one's key.  Types and settings must come before it. */
static void assemble(struct bt_script *s, char *const *text)
{
	char *begin = section("BEGIN", text[BT_FILL], text[BT_AT_BEGIN]);
	char *end = section("END", text[BT_CLEAR], text[BT_AT_END]);

	s->out = xprintf("%s%s%s%s", text[BT_HEAD], begin, text[BT_MAIN], end);
	s->out_len = strlen(s->out);
	s->notes = *text[BT_NOTES] ? xstrdup(text[BT_NOTES]) : NULL;
	free(begin);
	free(end);
}

static bool make(struct bt_script *s, const bool *present)
{
	struct bt_writer w;
	bool ok;

	s->error = (struct bt_error){};
	s->nprobes = 0;
	bt_writer_begin(&w, s, present);
	ok = write_parts(&w);
	bt_tables_write(&w.tables, s->wanted, w.to[BT_FILL], w.to[BT_CLEAR]);
	bt_writer_end(&w);
	if (ok && present)
		assemble(s, w.text);
	bt_writer_free(&w);
	return ok;
}

bool bt_check(struct bt_script *s)
{
	s->wanted = xcalloc(cuda_protos_n, sizeof(bool));
	s->blocks = xcalloc(2 * cuda_protos_n, 1);
	return make(s, NULL);
}

bool bt_translate(struct bt_script *s)
{
	bool *present = xcalloc(cuda_protos_n, sizeof(bool)), ok;

	for (int i = 0; i < s->nfiles; i++)
		for (int k = 0; k < s->files[i].n; k++)
			present[s->files[i].ids[k]] = true;
	ok = make(s, present);
	free(present);
	return ok;
}
