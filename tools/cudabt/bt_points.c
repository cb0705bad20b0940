/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <ctype.h>
#include <string.h>
#include "cudabt/bt_points.h"

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

/* Prints the points shared with other blocks, or those not shared; returns their number. */
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

/* A point shared with another block gets its own copy of the text: where lists of different points
 * have one in common, bpftrace 0.17 runs one of the two blocks for both. */
static int print_all(FILE *f, const struct bt_block *b, const struct bt_script *s, bool ret,
		     const char *text)
{
	return print_points(f, b, s, ret, false, text) + print_points(f, b, s, ret, true, text);
}

int bt_points_print(FILE *f, const struct bt_block *b, const struct bt_script *s)
{
	int saving = b->entry ? print_all(f, b, s, false, b->entry) : 0;

	return saving + print_all(f, b, s, b->ret, b->text);
}

void bt_points_count(const struct bt_block *b, const struct bt_script *s, int id)
{
	unsigned char *n = &s->blocks[2 * id];

	n[b->ret] += n[b->ret] < 2;
	if (b->entry)
		n[0] += n[0] < 2;
}
