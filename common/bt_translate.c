/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bt_block.h"
#include "bt_select.h"
#include "bt_translate.h"
#include "die.h"

enum { MAX_WORK = 32 << 20, NAMED = 6 };

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
	size_t work;		/* bytes made */
};

bool bt_path_ok(const char *path)
{
	for (; *path; path++)
		if (*path < ' ' || *path > '~' || strchr("\"\\*?[]", *path))
			return false;
	return true;
}

static int line_of(const struct making *m, const char *at)
{
	int line = 1;

	for (const char *c = m->s->text; c < at; c++)
		line += *c == '\n';
	return line;
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
		fprintf(m->to[NOTES], "line %d: no file has a function of this probe, or --layer leaves it "
			"out\n", line_of(m, part->start));
	return true;
}

/* Functions that have no argument of a name are left out, where others have one. */
static void leave_out(struct making *m, const struct bt_part *part, const bool *lacking, int n)
{
	int named = 0;

	fprintf(m->to[NOTES], "line %d: left out, for want of an argument:", line_of(m, part->start));
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
			m->work += strlen(b.text);
			bt_block_add(&blocks, &n, &b, id);
			made++;
		}
		bt_block_free(&b);
		if (m->work > MAX_WORK)
			bt_fail(e, part->start, "this makes a script that is too large");
	}
	if (!e->at && lacks && !made)
		*e = lack;
	if (!e->at && lacks && m->present)
		leave_out(m, part, lacking, lacks);
	write_blocks(m, blocks, n);
	free(lacking);
	return !e->at;
}

/* bpftrace's own attach points of the part, those of BEGIN and END apart: there can be only one
 * of each. */
static bool plain_block(struct making *m, const struct bt_part *part)
{
	struct bt_body body = { .tables = &m->tables };
	char *pred = NULL, *text = NULL;
	bool ok = true;
	size_t size;
	int n = 0;
	FILE *f;

	if (part->pred) {
		f = open_memstream(&pred, &size);
		ok = bt_body(&body, part->pred, part->pred_end, f, &m->s->error) == BT_DONE;
		fclose(f);
	}
	f = open_memstream(&text, &size);
	ok = ok && bt_body(&body, part->body, part->body_end, f, &m->s->error) == BT_DONE;
	fclose(f);
	for (int i = 0; i < part->n; i++) {
		const struct bt_token name = { BT_WORD, part->items[i].s, part->items[i].len };

		if (part->items[i].call != BT_PLAIN)
			continue;
		if (bt_is(&name, "BEGIN") || bt_is(&name, "END"))
			bt_print_if(*name.s == 'B' ? m->to[BEGIN] : m->to[END], pred, text);
		else
			fprintf(m->to[MAIN], "%s%.*s", n++ ? ",\n" : "", (int)name.len, name.s);
	}
	if (n && pred)
		fprintf(m->to[MAIN], " /%s/", pred);
	if (n)
		fprintf(m->to[MAIN], " {%s}%s", text, n < part->n ? "\n" : "");
	free(pred);
	free(text);
	return ok;
}

static bool write_part(struct making *m, const struct bt_part *part)
{
	bool plain = false;

	if (!part->n) {
		fwrite(part->start, 1, part->end - part->start, m->to[MAIN]);
		return true;
	}
	m->probes++;
	for (int i = 0; i < part->n; i++)
		plain |= part->items[i].call == BT_PLAIN;
	return look_up_items(m, part) && (!plain || plain_block(m, part)) &&
	       cuda_blocks(m, part, BT_CALL) && cuda_blocks(m, part, BT_RETURN);
}

static bool write_parts(struct making *m)
{
	struct bt_script *s = m->s;
	const char *p = s->text, *end = p + s->len;
	struct bt_part part;
	bool ok = true;

	if (memchr(p, 0, s->len))
		return bt_fail(&s->error, memchr(p, 0, s->len), "a zero byte: this is not a program's text");
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
		ok = bt_fail(&s->error, s->text, "there is no cuda: or cudaret: probe in this program");
	return ok;
}

/* What the names are looked up in is filled before the first event, and is not to be printed
 * at the end. */
static void write_tables(struct making *m)
{
	bool any = false;

	for (int i = 0; i < m->tables.nenums; i++) {
		const struct cuda_enum *e = m->tables.enums[i];

		for (int k = 0; k < e->n; k++)
			if (cuda_enum_name(e, e->enumerators[k].value) == e->enumerators[k].name)
				fprintf(m->to[FILL], "\t@cudabt_%s[%lld] = \"%s\";\n", e->type,
					e->enumerators[k].value, e->enumerators[k].name);
		fprintf(m->to[CLEAR], "\tclear(@cudabt_%s);\n", e->type);
	}
	for (int id = 0; id < cuda_protos_n; id++) {
		if (!m->tables.functions[id])
			continue;
		fprintf(m->to[FILL], "\t@cudabt_func[%d] = \"%s\";\n", id, cuda_protos[id].name);
		any = true;
	}
	if (any)
		fputs("\tclear(@cudabt_func);\n", m->to[CLEAR]);
}

static bool make(struct bt_script *s, bool *present)
{
	struct making m = { .s = s, .present = present };
	char **text = m.text;
	bool ok;

	s->error = (struct bt_error){};
	s->nprobes = 0;
	m.tables.functions = xcalloc(cuda_protos_n, sizeof(bool));
	for (int i = 0; i < STREAMS; i++)
		m.to[i] = open_memstream(&m.text[i], &m.size[i]);
	ok = write_parts(&m);
	write_tables(&m);
	for (int i = 0; i < STREAMS; i++)
		fclose(m.to[i]);
	if (ok && present) {
		s->out = xprintf("%s%s%s%s%s%s%s%s%s", text[MAIN],
				 m.size[FILL] + m.size[BEGIN] ? "\nBEGIN\n{\n" : "", text[FILL], text[BEGIN],
				 m.size[FILL] + m.size[BEGIN] ? "}\n" : "",
				 m.size[END] + m.size[CLEAR] ? "\nEND\n{\n" : "", text[END], text[CLEAR],
				 m.size[END] + m.size[CLEAR] ? "}\n" : "");
		s->out_len = strlen(s->out);
		s->notes = m.size[NOTES] ? xstrdup(text[NOTES]) : NULL;
	}
	for (int i = 0; i < STREAMS; i++)
		free(m.text[i]);
	free(m.tables.enums);
	free(m.tables.functions);
	return ok;
}

bool bt_check(struct bt_script *s)
{
	s->wanted = xcalloc(cuda_protos_n, sizeof(bool));
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
