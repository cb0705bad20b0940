/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "api/match.h"
#include "base/die.h"
#include "cudabt/bt_translate.h"

/* The streams to write to: BT_HEAD is what stands before the first CUDA probe. */
enum { BT_HEAD, BT_MAIN, BT_FILL, BT_AT_BEGIN, BT_AT_END, BT_CLEAR, BT_NOTES, BT_STREAMS };

struct bt_writer {
	struct bt_script *s;
	FILE *to[BT_STREAMS];
	char *text[BT_STREAMS];	/* from to[], set when bt_writer_end() closes it */
	size_t size[BT_STREAMS];
	struct bt_tables tables;
	const bool *present;	/* by id: a file has it; NULL if only checking the program */
	int probes;		/* the program's probes so far */
	bool any;		/* the program has CUDA probes */
	size_t work;		/* bytes written and names compared */
	const char *counted;	/* up to here … */
	int line;		/* … there are this many newlines */
};

struct bt_block {
	bool ret;
	char *text;		/* predicate and block */
	char *map;		/* for a return block: the map of the saved arguments, or NULL … */
	char *entry;		/* … and the predicate and block that save them at the entry */
	int *ids, n;		/* ids of its n functions */
};

/* A program with CUDA probes, and the bpftrace script it is translated to. */

/* Writes statements, under a condition unless it is NULL. */
static void bt_print_if(FILE *f, const char *condition, const char *statements)
{
	if (condition)
		fprintf(f, " if (%s) {%s}", condition, statements);
	else
		fputs(statements, f);
}

void bt_script_free(struct bt_script *s)
{
	free(s->wanted);
	free(s->blocks);
	free(s->out);
	free(s->notes);
}

/* A script being written. */

enum { MAX_WORK = 32 << 20 };

/* For a script whose text, length and files are set. */
static void bt_writer_begin(struct bt_writer *w, struct bt_script *s, const bool *present)
{
	*w = (struct bt_writer){ .s = s, .present = present, .counted = s->text };
	for (int i = 0; i < BT_STREAMS; i++)
		w->to[i] = open_memstream(&w->text[i], &w->size[i]);
}

/* Closes the streams. */
static void bt_writer_end(struct bt_writer *w)
{
	for (int i = 0; i < BT_STREAMS; i++)
		fclose(w->to[i]);
}

static void bt_writer_free(struct bt_writer *w)
{
	for (int i = 0; i < BT_STREAMS; i++)
		free(w->text[i]);
	bt_tables_free(&w->tables);
}

/* A short program can have patterns that match a lot: nobody needs a million stars. */
/* Adds work done for a part.  Returns false with the script's error set if it is too much. */
static bool bt_writer_affords(struct bt_writer *w, const struct bt_part *part, size_t work)
{
	w->work += work;
	return w->work <= MAX_WORK ||
	       bt_fail(&w->s->error, part->start, "expands to a script that is too large");
}

/* The stream for what is copied from the program. */
static FILE *bt_writer_copy(struct bt_writer *w)
{
	return w->to[w->any ? BT_MAIN : BT_HEAD];
}

/* The line number of at, which must not precede the position of the previous call. */
static int bt_writer_line(struct bt_writer *w, const char *at)
{
	for (; w->counted < at; w->counted++)
		w->line += *w->counted == '\n';
	return w->line + 1;
}

/* Which functions an attach point matches. */

static bool narrower(const struct cuda_value *a, const struct cuda_value *b)
{
	return a->kind == CUDA_KIND_UINT && b->kind == CUDA_KIND_UINT && a->size < b->size;
}

/* The driver's first functions take 32-bit sizes; nobody calls them any more. */
static bool is_first(const struct cuda_proto *p)
{
	char *name = xprintf("%s_v2", p->name);
	int id = cuda_proto_find(name);
	bool first = false;

	free(name);
	for (int i = 0; id >= 0 && i < p->nparams && i < cuda_protos[id].nparams; i++) {
		const struct cuda_param *a = &p->params[i], *b = &cuda_protos[id].params[i];

		first |= strstr(a->value.type, "_v1") || narrower(&a->value, &b->value) ||
			 narrower(&a->to, &b->to);
	}
	return first;
}

/* Return true if the attach point matches the function.  bpftrace's own points match none. */
static bool bt_select(const struct bt_item *item, const struct cuda_proto *p)
{
	return item->call != BT_PLAIN && match_name(p->name, item->s, item->len) && !is_first(p);
}

/* Call if it matches none: records the error with the most similar names, and returns false. */
static bool bt_select_nothing(const struct bt_item *item, struct bt_error *e)
{
	struct match_near near = { .name = item->s, .len = item->len };
	char text[MATCH_NEAR_TEXT];

	for (int id = 0; id < cuda_protos_n; id++)
		match_near_try(&near, cuda_protos[id].name, match_plain_length(cuda_protos[id].name));
	return bt_fail(e, item->s, "no CUDA function matches '%.*s'%s",
		       (int)(item->len < 80 ? item->len : 80), item->s,
		       match_near_text(&near, text, sizeof(text)));
}

/* A bpftrace block, shared by the CUDA functions for which its text is the same. */

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

/* Makes the part's block for one function; w->probes is the number of the program's probe.  Free
 * the block with bt_block_free(), whatever the outcome. */
static enum bt_outcome bt_block_make(struct bt_block *b, struct bt_writer *w, const struct bt_part *part,
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

/* Adds a function to whichever of the n blocks is identical to its own.  If none is, appends its
 * own, whose texts then belong to the array. */
static void bt_block_add(struct bt_block **blocks, int *n, struct bt_block *own, int id)
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

static void bt_block_free(struct bt_block *b)
{
	free(b->text);
	free(b->map);
	free(b->entry);
	free(b->ids);
}

/* The attach points of a block: its functions, in each file that has them. */

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

/* Writes the block for its functions that files have; returns the number of attach points. */
static int bt_points_print(FILE *f, const struct bt_block *b, const struct bt_script *s)
{
	int saving = b->entry ? print_all(f, b, s, false, b->entry) : 0;

	return saving + print_all(f, b, s, b->ret, b->text);
}

/* Counts in s->blocks the entry and return blocks that this is for the function. */
static void bt_points_count(const struct bt_block *b, const struct bt_script *s, int id)
{
	unsigned char *n = &s->blocks[2 * id];

	n[b->ret] += n[b->ret] < 2;
	if (b->entry)
		n[0] += n[0] < 2;
}

/* A part's plain bpftrace probes. */

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

/* Writes them and their block to BT_MAIN.  What runs at BEGIN and at END, of which a script can
 * have only one each, goes to BT_AT_BEGIN and BT_AT_END.  Returns false with the script's error set
 * on failure. */
static bool bt_plain(struct bt_writer *w, const struct bt_part *part)
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

/* A part's CUDA probes. */

enum { BLOCK_WORK = 64, MATCH_WORK = 4, NAMED = 6 };

/* Looks up the part's patterns and records the functions they match, for which the script's files
 * will be searched.  Returns false with the script's error set if a pattern matches none; adds a
 * note if no file has any of them. */
static bool bt_cuda_find(struct bt_writer *w, const struct bt_part *part)
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

/* Writes the part's blocks for the entries (BT_CALL) or returns (BT_RETURN) of the functions that
 * it matches.  Returns false with the script's error set on failure. */
static bool bt_cuda(struct bt_writer *w, const struct bt_part *part, enum bt_call call)
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

static bool bt_translate_has(const struct bt_part *part, enum bt_call call)
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
	       (!bt_translate_has(part, BT_PLAIN) || bt_plain(w, part)) &&
	       (!bt_translate_has(part, BT_CALL) || bt_cuda(w, part, BT_CALL)) &&
	       (!bt_translate_has(part, BT_RETURN) || bt_cuda(w, part, BT_RETURN));
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
