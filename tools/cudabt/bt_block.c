/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "cudabt/bt_block.h"
#include "api/match.h"
#include "base/die.h"

void bt_print_if(FILE *f, const char *condition, const char *statements)
{
	if (condition)
		fprintf(f, " if (%s) {%s}", condition, statements);
	else
		fputs(statements, f);
}

/* The predicate and block, within what says of which processes calls are seen. */
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

/* The block of a return probe that needs what was there at the entry.  The map is this probe's of
 * the program and this function's: one function may end within another, also by a jump. */
static void make_saving(struct bt_block *b, const struct bt_script *s, const struct bt_body *body,
			int number, const char *pred, const char *text)
{
	const char *name = body->proto->name;
	struct bt_frame entry = {};
	char *save = NULL;
	size_t size;
	FILE *f;

	b->map = xprintf("@cudabt%d_%.*s", number, (int)match_plain_length(name), name);
	f = open_memstream(&save, &size);
	fprintf(f, " %s[tid] = (nsecs", b->map);
	for (int i = 0; i < body->frame.nsaved; i++)
		fprintf(f, ", %s", bt_word(&entry, body->frame.saved[i]));
	fputs(body->frame.nsaved ? "); " : ", 0); ", f);	/* a tuple has two elements at least */
	fclose(f);
	b->entry = in_processes(s, NULL, save);
	free(save);

	f = open_memstream(&b->text, &size);
	fprintf(f, "{\n\t$cudabt = %s[tid];\n\tif ($cudabt.0) { delete(%s[tid]);", b->map, b->map);
	bt_print_if(f, pred, text);
	fputs(" }\n}", f);
	fclose(f);
}

enum bt_outcome bt_block_make(struct bt_block *b, const struct bt_script *s, const struct bt_part *part,
			      const struct cuda_proto *proto, bool ret, int number,
			      struct bt_tables *tables, struct bt_error *e)
{
	struct bt_body body = { .proto = proto, .tables = tables, .frame.ret = ret };
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
		make_saving(b, s, &body, number, pred, text);
	else if (did == BT_DONE)
		b->text = in_processes(s, pred, text);
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

static void print_path(FILE *f, const char *path)
{
	const char *c = path;

	while (isalnum((unsigned char)*c) || (*c && strchr("/._-", *c)))
		c++;
	if (*c)
		fprintf(f, "\"%s\"", path);
	else
		fputs(path, f);
}

static bool has(const struct bt_file *file, int id)
{
	for (int i = 0; i < file->n; i++)
		if (file->ids[i] == id)
			return true;
	return false;
}

static void print_point(FILE *f, bool ret, const char *path, int id)
{
	fprintf(f, "%sprobe:", ret ? "uret" : "u");
	print_path(f, path);
	fprintf(f, ":%s", cuda_protos[id].name);
}

/* Those of the points that other blocks have too, or those that they have not; how many. */
static int print_points(FILE *f, const struct bt_block *b, const struct bt_script *s, bool ret,
			bool shared, const char *text)
{
	int n = 0;

	for (int i = 0; i < b->n; i++)
		for (int k = 0; k < s->nfiles; k++) {
			if (shared != (s->blocks[2 * b->ids[i] + ret] > 1) || !has(&s->files[k], b->ids[i]))
				continue;
			fputs(n++ && !shared ? ",\n" : "", f);
			print_point(f, ret, s->files[k].path, b->ids[i]);
			if (shared)
				fprintf(f, "\n%s\n", text);
		}
	if (n && !shared)
		fprintf(f, "\n%s\n", text);
	return n;
}

/* A point that another block has too gets a copy of the text for itself: where lists of different
 * points have one in common, bpftrace 0.17 runs one of the two blocks for both. */
static int print_all(FILE *f, const struct bt_block *b, const struct bt_script *s, bool ret,
		     const char *text)
{
	return print_points(f, b, s, ret, false, text) + print_points(f, b, s, ret, true, text);
}

int bt_block_print(FILE *f, const struct bt_block *b, const struct bt_script *s)
{
	int saving = b->entry ? print_all(f, b, s, false, b->entry) : 0;

	return saving + print_all(f, b, s, b->ret, b->text);
}

void bt_block_count(const struct bt_block *b, const struct bt_script *s, int id)
{
	unsigned char *n = &s->blocks[2 * id];

	n[b->ret] += n[b->ret] < 2;
	if (b->entry)
		n[0] += n[0] < 2;
}

void bt_block_free(struct bt_block *b)
{
	free(b->text);
	free(b->map);
	free(b->entry);
	free(b->ids);
}
