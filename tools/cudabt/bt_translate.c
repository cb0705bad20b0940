/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cudabt/bt_block.h"
#include "cudabt/bt_plain.h"
#include "cudabt/bt_select.h"
#include "cudabt/bt_translate.h"
#include "base/die.h"

enum { MAX_WORK = 32 << 20, BLOCK_WORK = 64, MATCH_WORK = 4, NAMED = 6 };

/* What is written, each in a stream. */
enum { MAIN, FILL, BEGIN, END, CLEAR, NOTES, STREAMS };

struct making {
	struct bt_script *s;
	FILE *to[STREAMS];
	char *text[STREAMS];
	size_t size[STREAMS];
	struct bt_tables tables;
	bool *present;		/* by id: a file has it; NULL when the program is only checked */
	int probes;		/* of the program, so far */
	bool any;		/* of CUDA's */
	size_t work;		/* bytes made, and names compared */
	const char *counted;	/* up to here … */
	int line;		/* … are so many ends of lines */
};

/* The program is short, what its patterns mean need not be: a million stars are nobody's. */
static bool is_affordable(struct making *m, const struct bt_part *part, size_t work)
{
	m->work += work;
	return m->work <= MAX_WORK || bt_fail(&m->s->error, part->start,
						 "expands to a script that is too large");
}

/* Of a place that is not before the last one that was asked for. */
static int line_of(struct making *m, const char *at)
{
	for (; m->counted < at; m->counted++)
		m->line += *m->counted == '\n';
	return m->line + 1;
}

/* Each pattern must stand for something, and should for something that there is. */
static bool look_up_items(struct making *m, const struct bt_part *part)
{
	bool cuda = false, present = false;

	for (int i = 0; i < part->n; i++) {
		const struct bt_item *item = &part->items[i];
		bool known = false;

		if (item->call == BT_PLAIN)
			continue;
		if (!is_affordable(m, part, cuda_protos_n * MATCH_WORK))
			return false;
		for (int id = 0; id < cuda_protos_n; id++) {
			if (!bt_select(item, &cuda_protos[id]))
				continue;
			known = cuda = m->any = m->s->wanted[id] = true;
			present |= m->present && m->present[id];
		}
		if (!known)
			return bt_select_nothing(item, &m->s->error);
	}
	if (cuda && m->present && !present)
		fprintf(m->to[NOTES], "line %d: no file has a function of this probe, or --layer excludes it\n",
			line_of(m, part->start));
	return true;
}

/* Functions that have no argument of a name are left out, where others have one. */
static void leave_out(struct making *m, const struct bt_part *part, const bool *lacking, int n)
{
	int named = 0;

	fprintf(m->to[NOTES], "line %d: skipping functions that lack the argument:", line_of(m, part->start));
	for (int id = 0; id < cuda_protos_n && named < NAMED; id++)
		if (lacking[id])
			fprintf(m->to[NOTES], "%s %s", named++ ? "," : "", cuda_protos[id].name);
	if (n > named)
		fprintf(m->to[NOTES], " and %d more", n - named);
	fputc('\n', m->to[NOTES]);
}

static void write_blocks(struct making *m, struct bt_block *blocks, int n)
{
	for (int i = 0; i < n; i++) {
		if (m->present) {
			m->s->nprobes += bt_block_print(m->to[MAIN], &blocks[i], m->s);
			if (blocks[i].map)
				fprintf(m->to[CLEAR], "\tclear(%s);\n", blocks[i].map);
		}
		bt_block_free(&blocks[i]);
	}
	free(blocks);
}

/* The part's blocks at the entries, or at the returns, of the functions that it means. */
static bool cuda_blocks(struct making *m, const struct bt_part *part, enum bt_call call)
{
	struct bt_error *e = &m->s->error, lack = {}, none = {};
	bool *lacking = xcalloc(cuda_protos_n, sizeof(*lacking));
	struct bt_block *blocks = NULL, b;
	int n = 0, made = 0, lacks = 0;

	is_affordable(m, part, (size_t)part->n * cuda_protos_n * MATCH_WORK);
	for (int id = 0; !e->at && id < cuda_protos_n; id++) {
		const struct cuda_proto *proto = &cuda_protos[id];
		bool meant = false;

		for (int i = 0; !meant && i < part->n; i++)
			meant = part->items[i].call == call && bt_select(&part->items[i], proto);
		if (!meant || (m->present && !m->present[id]))
			continue;
		if (bt_block_make(&b, m->s, part, proto, call == BT_RETURN, m->probes, &m->tables, e) ==
		    BT_LACKS) {
			lack = lacks ? lack : *e;
			*e = none;
			lacking[id] = true;
			lacks++;
		} else if (!e->at) {
			is_affordable(m, part, strlen(b.text) + BLOCK_WORK);
			if (!m->present)
				bt_block_count(&b, m->s, id);
			bt_block_add(&blocks, &n, &b, id);
			made++;
		}
		bt_block_free(&b);
	}
	if (!e->at && lacks && !made)
		*e = lack;
	if (!e->at && lacks && m->present)
		leave_out(m, part, lacking, lacks);
	write_blocks(m, blocks, n);
	free(lacking);
	return !e->at;
}

static bool has(const struct bt_part *part, enum bt_call call)
{
	for (int i = 0; i < part->n; i++)
		if (part->items[i].call == call)
			return true;
	return false;
}

static bool write_part(struct making *m, const struct bt_part *part)
{
	if (!part->n) {
		fwrite(part->start, 1, part->end - part->start, m->to[MAIN]);
		return true;
	}
	m->probes++;
	return look_up_items(m, part) &&
	       (!has(part, BT_PLAIN) || bt_plain(part, &m->tables, m->to[MAIN], m->to[BEGIN], m->to[END],
						 &m->s->error)) &&
	       (!has(part, BT_CALL) || cuda_blocks(m, part, BT_CALL)) &&
	       (!has(part, BT_RETURN) || cuda_blocks(m, part, BT_RETURN));
}

static bool write_parts(struct making *m)
{
	struct bt_script *s = m->s;
	const char *p = s->text, *end = p + s->len;
	struct bt_part part;
	bool ok = true;

	if (memchr(p, 0, s->len))
		return bt_fail(&s->error, memchr(p, 0, s->len), "NUL byte: not a program text");
	if (s->len > 1 && !memcmp(p, "#!", 2)) {	/* the script's own interpreter */
		while (p < end && *p != '\n')
			p++;
	}
	for (; ok && p < end; p = part.end) {
		if (!bt_parse(p, end, &part, &s->error))
			return false;
		ok = write_part(m, &part);
		free(part.items);
	}
	if (ok && !m->any)
		ok = bt_fail(&s->error, s->text, "no cuda: or cudaret: probe in the program");
	return ok;
}

static bool make(struct bt_script *s, bool *present)
{
	struct making m = { .s = s, .present = present, .counted = s->text };
	char **text = m.text;
	bool ok;

	s->error = (struct bt_error){};
	s->nprobes = 0;
	for (int i = 0; i < STREAMS; i++)
		m.to[i] = open_memstream(&m.text[i], &m.size[i]);
	ok = write_parts(&m);
	bt_tables_write(&m.tables, m.to[FILL], m.to[CLEAR]);
	for (int i = 0; i < STREAMS; i++)
		fclose(m.to[i]);
	if (ok && present) {
		s->out = xprintf("%s%s%s%s%s%s%s%s%s", text[MAIN],
				 m.size[FILL] + m.size[BEGIN] ? "\nBEGIN\n{\n" : "", text[FILL], text[BEGIN],
				 m.size[FILL] + m.size[BEGIN] ? "}\n" : "",
				 m.size[END] + m.size[CLEAR] ? "\nEND\n{\n" : "", text[CLEAR], text[END],
				 m.size[END] + m.size[CLEAR] ? "}\n" : "");
		s->out_len = strlen(s->out);
		s->notes = m.size[NOTES] ? xstrdup(text[NOTES]) : NULL;
	}
	for (int i = 0; i < STREAMS; i++)
		free(m.text[i]);
	bt_tables_free(&m.tables);
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
