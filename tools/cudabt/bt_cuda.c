/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "cudabt/bt_block.h"
#include "cudabt/bt_cuda.h"
#include "cudabt/bt_points.h"
#include "cudabt/bt_select.h"

enum { BLOCK_WORK = 64, MATCH_WORK = 4, NAMED = 6 };

bool bt_cuda_find(struct bt_writer *w, const struct bt_part *part)
{
	bool cuda = false, present = false;

	for (int i = 0; i < part->n; i++) {
		const struct bt_item *item = &part->items[i];
		bool known = false;

		if (item->call == BT_PLAIN)
			continue;
		if (!bt_writer_affords(w, part, cuda_protos_n * MATCH_WORK))
			return false;
		for (int id = 0; id < cuda_protos_n; id++) {
			if (!bt_select(item, &cuda_protos[id]))
				continue;
			known = cuda = w->any = w->s->wanted[id] = true;
			w->s->returns |= item->call == BT_RETURN;
			present |= w->present && w->present[id];
		}
		if (!known)
			return bt_select_nothing(item, &w->s->error);
	}
	if (cuda && w->present && !present)
		fprintf(w->to[BT_NOTES], "line %d: no file has a function of this probe, or --layer excludes it\n", bt_writer_line(w, part->start));
	return true;
}

/* Notes the functions skipped because they lack an argument that others have. */
static void leave_out(struct bt_writer *w, const struct bt_part *part, const bool *lacking, int n)
{
	FILE *notes = w->to[BT_NOTES];
	int named = 0;

	fprintf(notes, "line %d: skipping functions that lack the argument:", bt_writer_line(w, part->start));
	for (int id = 0; id < cuda_protos_n && named < NAMED; id++)
		if (lacking[id])
			fprintf(notes, "%s %s", named++ ? "," : "", cuda_protos[id].name);
	if (n > named)
		fprintf(notes, " and %d more", n - named);
	fputc('\n', notes);
}

static void write_blocks(struct bt_writer *w, struct bt_block *blocks, int n)
{
	for (int i = 0; i < n; i++) {
		if (w->present) {
			w->s->nprobes += bt_points_print(w->to[BT_MAIN], &blocks[i], w->s);
			if (blocks[i].map)
				fprintf(w->to[BT_CLEAR], "\tclear(%s);\n", blocks[i].map);
		}
		bt_block_free(&blocks[i]);
	}
	free(blocks);
}

bool bt_cuda(struct bt_writer *w, const struct bt_part *part, enum bt_call call)
{
	struct bt_error *e = &w->s->error, lack = {}, none = {};
	bool *lacking = xcalloc(cuda_protos_n, sizeof(*lacking));
	struct bt_block *blocks = NULL, b;
	int n = 0, made = 0, lacks = 0;

	bt_writer_affords(w, part, (size_t)part->n * cuda_protos_n * MATCH_WORK);
	for (int id = 0; !e->at && id < cuda_protos_n; id++) {
		const struct cuda_proto *proto = &cuda_protos[id];
		bool meant = false;

		for (int i = 0; !meant && i < part->n; i++)
			meant = part->items[i].call == call && bt_select(&part->items[i], proto);
		if (!meant || (w->present && !w->present[id]))
			continue;
		if (bt_block_make(&b, w, part, proto, call == BT_RETURN) == BT_LACKS) {
			lack = lacks ? lack : *e;
			*e = none;
			lacking[id] = true;
			lacks++;
		} else if (!e->at) {
			bt_writer_affords(w, part, strlen(b.text) + BLOCK_WORK);
			if (!w->present)
				bt_points_count(&b, w->s, id);
			bt_block_add(&blocks, &n, &b, id);
			made++;
		}
		bt_block_free(&b);
	}
	if (!e->at && lacks && !made)
		*e = lack;
	if (!e->at && lacks && w->present)
		leave_out(w, part, lacking, lacks);
	write_blocks(w, blocks, n);
	free(lacking);
	return !e->at;
}
