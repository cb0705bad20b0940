/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "api/match.h"
#include "base/die.h"
#include "cudabt/bt_body.h"
#include "cudabt/bt_translate.h"

/* Streams that the script is written to; HEAD: up to the first CUDA probe. */
enum { HEAD, MAIN, FILL, AT_BEGIN, AT_END, CLEAR, NOTES, STREAMS };

/* A script being written. */
struct writer {
	struct bt_script *s;
	FILE *to[STREAMS];
	char *text[STREAMS];	/* of to[], once writer_end() has closed it */
	size_t size[STREAMS];
	struct bt_tables tables;
	const bool *present;	/* by id: a file has it; NULL while analyzing */
	int probes;		/* the program's probes so far */
	bool any;		/* the program has CUDA probes */
	size_t work;		/* bytes written and names compared */
	const char *counted;	/* up to here … */
	int line;		/* … there are this many newlines */
};

/* A bpftrace block, shared by the CUDA functions for which its text is the same. */
struct block {
	bool ret;
	char *text;		/* predicate and block */
	char *map;		/* for a return block: the map of the saved arguments, or NULL … */
	char *entry;		/* … and the predicate and block that save them at the entry */
	int *ids, n;		/* ids of its n functions */
};

/* Writes statements, under a condition unless it is NULL. */
static void print_if(FILE *f, const char *condition, const char *statements)
{
	if (condition)
		fprintf(f, " if (%s) {%s}", condition, statements);
	else
		fputs(statements, f);
}

/* WORK: costs in struct writer.work */
enum { MAX_WORK = 32 << 20, BLOCK_WORK = 64, MATCH_WORK = 4, NAMED = 6 };

static void writer_begin(struct writer *w, struct bt_script *s, const bool *present)
{
	*w = (struct writer){ .s = s, .present = present, .counted = s->text };
	for (int i = 0; i < STREAMS; i++)
		w->to[i] = open_memstream(&w->text[i], &w->size[i]);
}

static void writer_end(struct writer *w)
{
	for (int i = 0; i < STREAMS; i++)
		fclose(w->to[i]);
}

static void writer_free(struct writer *w)
{
	for (int i = 0; i < STREAMS; i++)
		free(w->text[i]);
	bt_tables_free(&w->tables);
}

/* Adds work for a part; returns false with the script's error set if it is too much, as a short program
 * can have a million patterns that match everything. */
static bool writer_affords(struct writer *w, const struct bt_part *part, size_t work)
{
	w->work += work;
	return w->work <= MAX_WORK ||
	       bt_fail(&w->s->error, part->start, "expands to a script that is too large");
}

/* The stream for text copied from the program. */
static FILE *writer_copy(struct writer *w)
{
	return w->to[w->any ? MAIN : HEAD];
}

/* The line number of at, which must not precede the position of the previous call. */
static int writer_line(struct writer *w, const char *at)
{
	for (; w->counted < at; w->counted++)
		w->line += *w->counted == '\n';
	return w->line + 1;
}

static bool narrower(const struct cuda_value *a, const struct cuda_value *b)
{
	return a->kind == CUDA_KIND_UINT && b->kind == CUDA_KIND_UINT && a->size < b->size;
}

/* The driver's first functions take 32-bit sizes; no program calls them any more. */
static bool is_obsolete(const struct cuda_proto *p)
{
	char *name = xprintf("%s_v2", p->name);
	int id = cuda_proto_find(name);
	bool obsolete = false;

	free(name);
	for (int i = 0; id >= 0 && i < p->nparams && i < cuda_protos[id].nparams; i++) {
		const struct cuda_param *a = &p->params[i], *b = &cuda_protos[id].params[i];

		obsolete |= strstr(a->value.type, "_v1") || narrower(&a->value, &b->value) ||
			    narrower(&a->to, &b->to);
	}
	return obsolete;
}

/* Return true if the attach point matches the function.  bpftrace's own points match none. */
static bool matches(const struct bt_point *point, const struct cuda_proto *p)
{
	return point->call != BT_PLAIN && match_name(p->name, point->s, point->len) && !is_obsolete(p);
}

/* Call if it matches none: sets the error, with the most similar names, and returns false. */
static bool fail_no_match(const struct bt_point *point, struct bt_error *e)
{
	struct match_near near = { .name = point->s, .len = point->len };
	char text[MATCH_NEAR_TEXT];

	for (int id = 0; id < cuda_protos_n; id++)
		match_near_try(&near, cuda_protos[id].name, match_plain_length(cuda_protos[id].name));
	return bt_fail(e, point->s, "no CUDA function matches '%.*s'%s",
		       (int)(point->len < 80 ? point->len : 80), point->s,
		       match_near_text(&near, text, sizeof(text)));
}

/* Translates the text between p and end to *text, which the caller frees. */
static enum bt_outcome translate(struct bt_body *body, const char *p, const char *end, char **text,
				 struct bt_error *e)
{
	size_t size;
	FILE *f = open_memstream(text, &size);
	enum bt_outcome did = bt_body(body, p, end, f, e);

	fclose(f);
	return did;
}

/* The predicate and block, wrapped in the condition that limits which processes are traced. */
static char *in_processes(const struct bt_script *s, const char *pred, const char *body)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (s->statements) {
		fprintf(f, "{\n\t%s\n\tif (%s) {", s->statements, s->condition);
		print_if(f, pred, body);
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
static void make_saving(struct block *b, const struct writer *w, const struct bt_body *body,
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
	print_if(f, pred, text);
	fputs(" }\n}", f);
	fclose(f);
}

/* Makes the part's block for one function.  Free it with block_free(), whatever the outcome. */
static enum bt_outcome block_make(struct block *b, struct writer *w, const struct bt_part *part,
				  const struct cuda_proto *proto, bool ret)
{
	struct bt_body body = { .proto = proto, .tables = &w->tables, .frame.ret = ret };
	struct bt_error *e = &w->s->error;
	char *pred = NULL, *text = NULL;
	enum bt_outcome did = BT_DONE;

	*b = (struct block){ .ret = ret };
	if (part->pred)
		did = translate(&body, part->pred, part->pred_end, &pred, e);
	if (did == BT_DONE)
		did = translate(&body, part->body, part->body_end, &text, e);
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

/* Adds a function to the one of n blocks that is identical to its own.  If there is none, appends its
 * own, whose texts then belong to the array. */
static void block_add(struct block **blocks, int *n, struct block *own, int id)
{
	struct block *to;
	int i = 0;

	while (i < *n && !(same((*blocks)[i].text, own->text) &&
			    same((*blocks)[i].entry, own->entry)))
		i++;
	if (i == *n) {
		*blocks = xrealloc(*blocks, *n + 1, sizeof(**blocks));
		(*blocks)[(*n)++] = *own;
		*own = (struct block){};
	}
	to = &(*blocks)[i];
	to->ids = xrealloc(to->ids, to->n + 1, sizeof(*to->ids));
	to->ids[to->n++] = id;
}

static void block_free(struct block *b)
{
	free(b->text);
	free(b->map);
	free(b->entry);
	free(b->ids);
}

static bool file_has(const struct bt_file *file, int id)
{
	for (int i = 0; i < file->n; i++)
		if (file->ids[i] == id)
			return true;
	return false;
}

static void print_point(FILE *f, bool ret, const char *path, int id)
{
	const char *c = path;

	while (isalnum((unsigned char)*c) || (*c && strchr("/._-", *c)))
		c++;
	fprintf(f, *c ? "%sprobe:\"%s\":%s" : "%sprobe:%s:%s", ret ? "uret" : "u", path, cuda_protos[id].name);
}

/* Prints the points shared with other blocks, or those not shared; returns their number. */
static int print_points(FILE *f, const struct block *b, const struct bt_script *s, bool ret,
			bool shared, const char *text)
{
	int n = 0;

	for (int i = 0; i < b->n; i++)
		for (int k = 0; k < s->nfiles; k++) {
			if (shared != (s->blocks[2 * b->ids[i] + ret] > 1) || !file_has(&s->files[k], b->ids[i]))
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
static int print_all(FILE *f, const struct block *b, const struct bt_script *s, bool ret,
		     const char *text)
{
	return print_points(f, b, s, ret, false, text) + print_points(f, b, s, ret, true, text);
}

/* Writes the block for its functions in each file that has them; returns the number of attach points. */
static int print_block(FILE *f, const struct block *b, const struct bt_script *s)
{
	int saving = b->entry ? print_all(f, b, s, false, b->entry) : 0;

	return saving + print_all(f, b, s, b->ret, b->text);
}

/* Counts the block for the function in s->blocks. */
static void count_block(const struct block *b, const struct bt_script *s, int id)
{
	unsigned char *n = &s->blocks[2 * id];

	n[b->ret] += n[b->ret] < 2;
	if (b->entry)
		n[0] += n[0] < 2;
}

static void write_points(struct writer *w, const struct bt_part *part, const char *pred,
			 const char *text)
{
	FILE *out = writer_copy(w);
	int n = 0;

	for (int i = 0; i < part->n; i++) {
		const struct bt_token name = { BT_IDENT, part->points[i].s, part->points[i].len };

		if (part->points[i].call != BT_PLAIN)
			continue;
		if (bt_is(&name, "BEGIN") || bt_is(&name, "END"))
			print_if(w->to[*name.s == 'B' ? AT_BEGIN : AT_END], pred, text);
		else
			fprintf(out, "%s%.*s", n++ ? ",\n" : "", (int)name.len, name.s);
	}
	if (n && pred)
		fprintf(out, " /%s/", pred);
	if (n)
		fprintf(out, " {%s}%s", text, n < part->n ? "\n" : "");
}

/* Writes the part's plain bpftrace probes and their block.  A script can have only one BEGIN and one END:
 * their blocks go to AT_BEGIN and AT_END.  Returns false with the script's error set on failure. */
static bool write_plain(struct writer *w, const struct bt_part *part)
{
	struct bt_body body = { .tables = &w->tables };
	struct bt_error *e = &w->s->error;
	char *pred = NULL, *text = NULL;
	bool ok = (!part->pred || translate(&body, part->pred, part->pred_end, &pred, e) == BT_DONE) &&
		  translate(&body, part->body, part->body_end, &text, e) == BT_DONE;

	if (ok)
		write_points(w, part, pred, text);
	free(pred);
	free(text);
	return ok;
}

/* Records the functions that the part's patterns match, for which files will be searched.  Returns false
 * with the script's error set if a pattern matches none; adds a note if no file has any of them. */
static bool find_functions(struct writer *w, const struct bt_part *part)
{
	bool cuda = false, present = false;

	for (int i = 0; i < part->n; i++) {
		const struct bt_point *point = &part->points[i];
		bool any = false;

		if (point->call == BT_PLAIN)
			continue;
		if (!writer_affords(w, part, cuda_protos_n * MATCH_WORK))
			return false;
		for (int id = 0; id < cuda_protos_n; id++) {
			if (!matches(point, &cuda_protos[id]))
				continue;
			any = cuda = w->any = w->s->wanted[id] = true;
			w->s->returns |= point->call == BT_RETURN;
			present |= w->present && w->present[id];
		}
		if (!any)
			return fail_no_match(point, &w->s->error);
	}
	if (cuda && w->present && !present)
		fprintf(w->to[NOTES], "line %d: no file has a function of this probe, or --layer excludes it\n",
			writer_line(w, part->start));
	return true;
}

/* Notes the functions skipped because they lack an argument that others have. */
static void note_skipped(struct writer *w, const struct bt_part *part, const bool *lacking, int n)
{
	FILE *notes = w->to[NOTES];
	int named = 0;

	fprintf(notes, "line %d: skipping functions that lack the argument:", writer_line(w, part->start));
	for (int id = 0; id < cuda_protos_n && named < NAMED; id++)
		if (lacking[id])
			fprintf(notes, "%s %s", named++ ? "," : "", cuda_protos[id].name);
	if (n > named)
		fprintf(notes, " and %d more", n - named);
	fputc('\n', notes);
}

static void write_blocks(struct writer *w, struct block *blocks, int n)
{
	for (int i = 0; i < n; i++) {
		if (w->present) {
			w->s->nprobes += print_block(w->to[MAIN], &blocks[i], w->s);
			if (blocks[i].map)
				fprintf(w->to[CLEAR], "\tclear(%s);\n", blocks[i].map);
		}
		block_free(&blocks[i]);
	}
	free(blocks);
}

/* Writes the part's blocks for the entries (BT_CALL) or returns (BT_RETURN) of the functions that
 * it matches.  Returns false with the script's error set on failure. */
static bool write_cuda(struct writer *w, const struct bt_part *part, enum bt_call call)
{
	struct bt_error *e = &w->s->error, lack = {}, none = {};
	bool *lacking = xcalloc(cuda_protos_n, sizeof(*lacking));
	struct block *blocks = NULL, b;
	int n = 0, made = 0, lacks = 0;

	writer_affords(w, part, (size_t)part->n * cuda_protos_n * MATCH_WORK);
	for (int id = 0; !e->at && id < cuda_protos_n; id++) {
		const struct cuda_proto *proto = &cuda_protos[id];
		bool matched = false;

		for (int i = 0; !matched && i < part->n; i++)
			matched = part->points[i].call == call && matches(&part->points[i], proto);
		if (!matched || (w->present && !w->present[id]))
			continue;
		if (block_make(&b, w, part, proto, call == BT_RETURN) == BT_NO_ARGUMENT) {
			lack = lacks ? lack : *e;
			*e = none;
			lacking[id] = true;
			lacks++;
		} else if (!e->at) {
			writer_affords(w, part, strlen(b.text) + BLOCK_WORK);
			if (!w->present)
				count_block(&b, w->s, id);
			block_add(&blocks, &n, &b, id);
			made++;
		}
		block_free(&b);
	}
	if (!e->at && lacks && !made)
		*e = lack;
	if (!e->at && lacks && w->present)
		note_skipped(w, part, lacking, lacks);
	write_blocks(w, blocks, n);
	free(lacking);
	return !e->at;
}

static bool has_point(const struct bt_part *part, enum bt_call call)
{
	for (int i = 0; i < part->n; i++)
		if (part->points[i].call == call)
			return true;
	return false;
}

static bool write_part(struct writer *w, const struct bt_part *part)
{
	if (!part->n) {
		fwrite(part->start, 1, part->end - part->start, writer_copy(w));
		return true;
	}
	w->probes++;
	return find_functions(w, part) &&
	       (!has_point(part, BT_PLAIN) || write_plain(w, part)) &&
	       (!has_point(part, BT_CALL) || write_cuda(w, part, BT_CALL)) &&
	       (!has_point(part, BT_RETURN) || write_cuda(w, part, BT_RETURN));
}

static bool write_parts(struct writer *w)
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
		free(part.points);
	}
	if (ok && !w->any)
		ok = bt_fail(&s->error, s->text, "no cuda: or cudaret: probe in the program");
	return ok;
}

/* BEGIN or END with its actions; empty if there are none. */
static char *section(const char *head, const char *first, const char *second)
{
	return *first || *second ? xprintf("\n%s\n{\n%s%s}\n", head, first, second) : xstrdup("");
}

/* BEGIN comes before the probes: newer versions of bpftrace must see the type of a map before it is part
 * of another map's key.  Types and settings must come before BEGIN. */
static void assemble(struct bt_script *s, char *const *text)
{
	char *begin = section("BEGIN", text[FILL], text[AT_BEGIN]);
	char *end = section("END", text[CLEAR], text[AT_END]);

	s->out = xprintf("%s%s%s%s", text[HEAD], begin, text[MAIN], end);
	s->out_len = strlen(s->out);
	s->notes = *text[NOTES] ? xstrdup(text[NOTES]) : NULL;
	free(begin);
	free(end);
}

static bool make(struct bt_script *s, const bool *present)
{
	struct writer w;
	bool ok;

	s->error = (struct bt_error){};
	s->nprobes = 0;
	writer_begin(&w, s, present);
	ok = write_parts(&w);
	bt_tables_write(&w.tables, s->wanted, w.to[FILL], w.to[CLEAR]);
	writer_end(&w);
	if (ok && present)
		assemble(s, w.text);
	writer_free(&w);
	return ok;
}

bool bt_analyze(struct bt_script *s)
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

void bt_script_free(struct bt_script *s)
{
	free(s->wanted);
	free(s->blocks);
	free(s->out);
	free(s->notes);
}
