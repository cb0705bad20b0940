/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "cudabt/bt_block.h"
#include "api/match.h"
#include "base/die.h"

/* The predicate and block, wrapped in the condition that limits which processes are traced. */
static char *in_processes(const struct bt_script *s, const char *pred, const char *body)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (s->statements) {
		fprintf(f, "{\n\t%s\n\tif (%s) {", s->statements, s->condition);
		bt_print_if(f, pred, body);
		fputs(" }\n}", f);
	} else {
		if (s->condition && pred)
			fprintf(f, "/%s && (%s)/\n", s->condition, pred);
		else if (s->condition || pred)
			fprintf(f, "/%s/\n", pred ? pred : s->condition);
		fprintf(f, "{%s}", body);
	}
	fclose(f);
	return text;
}

/* The block of a return probe that needs values from the entry.  The map belongs to this probe of
 * the program and to this function alone: a function may end within another, also by a jump. */
static void make_saving(struct bt_block *b, const struct bt_writer *w, const struct bt_body *body,
			const char *pred, const char *text)
{
	const char *name = body->proto->name;
	struct bt_frame entry = {};
	char *save = NULL, word[BT_WORD_SIZE];
	size_t size;
	FILE *f;

	b->map = xprintf("@cudabt%d_%.*s", w->probes, (int)match_plain_length(name), name);
	f = open_memstream(&save, &size);
	fprintf(f, " %s[tid] = (nsecs", b->map);
	for (int i = 0; i < body->frame.nsaved; i++)
		fprintf(f, ", %s", bt_word(&entry, body->frame.saved[i], word, sizeof(word)));
	fputs(body->frame.nsaved ? "); " : ", 0); ", f);	/* tuples need two elements */
	fclose(f);
	b->entry = in_processes(w->s, NULL, save);
	free(save);

	f = open_memstream(&b->text, &size);
	fprintf(f, "{\n\t$cudabt = %s[tid];\n\tif ($cudabt.0) { delete(%s[tid]);", b->map, b->map);
	bt_print_if(f, pred, text);
	fputs(" }\n}", f);
	fclose(f);
}

enum bt_outcome bt_block_make(struct bt_block *b, struct bt_writer *w, const struct bt_part *part,
			      const struct cuda_proto *proto, bool ret)
{
	struct bt_body body = { .proto = proto, .tables = &w->tables, .frame.ret = ret };
	struct bt_error *e = &w->s->error;
	char *pred = NULL, *text = NULL;
	enum bt_outcome did = BT_DONE;
	size_t size;
	FILE *f;

	*b = (struct bt_block){ .ret = ret };
	if (part->pred) {
		f = open_memstream(&pred, &size);
		did = bt_body(&body, part->pred, part->pred_end, f, e);
		fclose(f);
	}
	f = open_memstream(&text, &size);
	if (did == BT_DONE)
		did = bt_body(&body, part->body, part->body_end, f, e);
	fclose(f);
	if (did == BT_DONE && body.saves)
		make_saving(b, w, &body, pred, text);
	else if (did == BT_DONE)
		b->text = in_processes(w->s, pred, text);
	free(pred);
	free(text);
	return did;
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

void bt_block_add(struct bt_block **blocks, int *n, struct bt_block *own, int id)
{
	struct bt_block *to;
	int i = 0;

	while (i < *n && !(same((*blocks)[i].text, own->text) &&
			    same((*blocks)[i].entry, own->entry)))
		i++;
	if (i == *n) {
		*blocks = xrealloc(*blocks, *n + 1, sizeof(**blocks));
		(*blocks)[(*n)++] = *own;
		*own = (struct bt_block){};
	}
	to = &(*blocks)[i];
	to->ids = xrealloc(to->ids, to->n + 1, sizeof(*to->ids));
	to->ids[to->n++] = id;
}

void bt_block_free(struct bt_block *b)
{
	free(b->text);
	free(b->map);
	free(b->entry);
	free(b->ids);
}
