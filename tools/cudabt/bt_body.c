/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "api/cuda_structs.h"
#include "api/match.h"
#include "base/die.h"
#include "cudabt/bt_body.h"
#include "machine/call.h"

enum how {
	VALUE,
	DEREF = 1,	/* *args.NAME */
	ADDRESS = 2,	/* within str(): a string's address */
};

enum { TYPE_SIZE = 16, MEMBERS = 300 };	/* bytes for a type, and for the names of members */
enum { MAX_DEPTH = 8 };	/* of errname(errname(... */

/* A text being translated. */
struct walk {
	struct bt_body *b;
	const char *p, *end;
	struct bt_token before[2];	/* the two tokens before p */
	FILE *out;
	struct bt_error *e;
};

static bool begins(const struct bt_token *t, const char *with)
{
	return t->len > strlen(with) && !memcmp(t->s, with, strlen(with));
}

/* Return true if the word looks like an enumerator: cudaMemcpyHostToDevice, CU_..., CUDA_... */
static bool is_constant(const struct bt_token *t)
{
	return begins(t, "CU_") || begins(t, "CUDA_") ||
	       (begins(t, "cuda") && t->s[4] >= 'A' && t->s[4] <= 'Z');
}

/* Writes the enumerator's number; false with *e set, with the nearest names, if there is none. */
static bool write_constant(FILE *out, const struct bt_token *t, struct bt_error *e)
{
	struct match_near near = { .name = t->s, .len = t->len };
	const struct cuda_enumerator *c;
	char name[128], text[MATCH_NEAR_TEXT];
	long long value;

	snprintf(name, sizeof(name), "%.*s", (int)t->len, t->s);
	if (t->len < sizeof(name) && cuda_enumerator_find(name, &value)) {
		fprintf(out, "%lld", value);
		return true;
	}
	for (int i = 0; (c = cuda_enumerator(i)); i++)
		match_near_try(&near, c->name, strlen(c->name));
	return bt_fail(e, t->s, "no CUDA enum has '%s'%s", name,
		       match_near_text(&near, text, sizeof(text)));
}

/* Writes the name of an integer's type, at most TYPE_SIZE bytes; returns name. */
static const char *type_name(const struct cuda_value *v, char *name, size_t size)
{
	const struct cuda_enum *e = v->kind == CUDA_KIND_ENUM ? cuda_enum_find(v->type) : NULL;
	bool is_signed = v->kind == CUDA_KIND_INT || v->kind == CUDA_KIND_ENUM;

	for (int i = 0; e && i < e->n; i++)
		if (e->enumerators[i].value > 0x7fffffff)	/* then its values are unsigned */
			is_signed = false;
	snprintf(name, size, "%sint%u", is_signed ? "" : "u", v->size * 8);
	return name;
}

static bool is_struct(const struct cuda_value *v)
{
	return v->kind == CUDA_KIND_STRUCT || v->kind == CUDA_KIND_DIM3;
}

/* The target of a pointer; of structs, those of cuda_structs.h. */
static struct cuda_value target_of(const struct cuda_param *param)
{
	const char *type = param->value.type;
	const struct cuda_member *m;
	size_t len = strlen(type);
	char name[64];

	if (param->to.kind != CUDA_KIND_NONE || len < 3 || strcmp(type + len - 2, " *"))
		return param->to;
	snprintf(name, sizeof(name), "%.*s", (int)len - 2, type);
	m = cuda_struct_find(name);
	return m ? (struct cuda_value){ m->of, CUDA_KIND_STRUCT, 0 } : param->to;
}

static const char *members(const struct cuda_value *v, char *text, size_t size)
{
	const struct cuda_member *m = cuda_struct_find(v->type);
	size_t len = 0;

	if (!m)
		return "its members are unknown";
	for (; m && len < size - 60; m = cuda_struct_next(m))
		len += snprintf(text + len, size - len, "%s%s", len ? ", " : "its members are ", m->name);
	return text;
}

/* Replaces the struct *v by its member and adds the member's offset to *offset; false with *e set if there
 * is none. */
static bool enter_member(struct cuda_value *v, unsigned *offset, const struct bt_token *name,
			 struct bt_error *e)
{
	const struct cuda_member *m = cuda_struct_find(v->type);
	char text[MEMBERS];

	while (m && !bt_is(name, m->name))
		m = cuda_struct_next(m);
	if (!m)
		return bt_fail(e, name->s, "%s has no member '%.*s': %s", v->type, (int)name->len,
			       name->s, members(v, text, sizeof(text)));
	*offset += m->offset;
	*v = m->value;
	return true;
}

/* Return true if bpftrace can hold the value; else sets *e, at at. */
static bool has_value(const struct cuda_value *v, const char *at, struct bt_error *e)
{
	char text[MEMBERS];

	if (v->kind == CUDA_KIND_FLOAT)
		return bt_fail(e, at, "this is a %s, and bpftrace has no floating point support", v->type);
	if (is_struct(v))
		return bt_fail(e, at, "this is a %s: %s", v->type, members(v, text, sizeof(text)));
	if (v->kind == CUDA_KIND_NONE || (v->size & (v->size - 1)) || v->size < 1 || v->size > 8)
		return bt_fail(e, at, "pointer to an unknown type; use *(uint64 *)args.NAME to read "
			       "8 bytes");
	return true;
}

const char *bt_word(struct bt_frame *f, unsigned place, char *word, size_t size)
{
	int i = 0;

	if (f->ret) {
		while (i < f->nsaved && f->saved[i] != place)
			i++;
		if (i == f->nsaved && i < BT_SAVED)
			f->saved[f->nsaved++] = place;
		snprintf(word, size, "$cudabt.%d", i + 1);
	} else if (place <= CALL_REGISTERS) {
		snprintf(word, size, "arg%u", place - 1);
	} else {
		/* bpftrace 0.25 dropped sarg0 */
		snprintf(word, size, "*(uint64 *)(reg(\"sp\") + %u)", CALL_STACK + 8 * (place - CALL_REGISTERS - 1));
	}
	return word;
}

/* A value in a register or stack word, from a bit on. */
static void write_bits(FILE *out, const struct cuda_value *v, const char *word, unsigned bit)
{
	char type[TYPE_SIZE];

	if (v->size != 8)
		fprintf(out, "(%s)", type_name(v, type, sizeof(type)));
	if (bit)
		fprintf(out, "(%s >> %u)", word, bit);
	else
		fputs(word, out);
}

static void write_value(FILE *out, const struct cuda_value *v, enum how how, bool memory,
			const char *word, unsigned offset)
{
	bool string = v->kind == CUDA_KIND_STR && !(how & ADDRESS);
	char type[TYPE_SIZE];

	if (string)
		fputs("str(", out);
	if (memory && offset)
		fprintf(out, "(*(%s *)(%s + %u))", type_name(v, type, sizeof(type)), word, offset);
	else if (memory)
		fprintf(out, "(*(%s *)%s)", type_name(v, type, sizeof(type)), word);
	else
		write_bits(out, v, word, offset % 8 * 8);
	if (string)
		putc(')', out);
}

/* Writes the value of args.NAME and its members, .x or ->width; w->p, just past NAME, is moved past them.  Sets
 * w->b->type if the value is an enum.  Returns false with the error set if bpftrace cannot hold it. */
static bool write_argument(struct walk *w, const struct cuda_param *param, enum how how)
{
	const char *at = w->p - strlen(param->name);
	const struct cuda_value to = target_of(param);
	struct cuda_value v = param->value;
	bool memory = how & DEREF || param->by_reference;
	char name[TYPE_SIZE], word[BT_WORD_SIZE];
	unsigned offset = 0, place;
	struct bt_error *e = w->e;
	struct bt_token t;

	if (!param->place)
		return bt_fail(e, at, "this is a %s, passed in a register that probes cannot read", v.type);
	if (how & DEREF)
		v = to;
	for (; bt_lex(w->p, w->end, &t, e); w->p = t.s + t.len) {
		bool pointer = v.kind == CUDA_KIND_PTR && !memory && is_struct(&to);

		if (!(bt_is(&t, ".") || bt_is(&t, "->")) || !(pointer || is_struct(&v)))
			break;
		if (pointer)
			v = to;
		memory |= pointer;
		if (!bt_lex_nonspace(t.s + t.len, w->end, &t, e) || !enter_member(&v, &offset, &t, e))
			return false;
	}
	if (e->at || !has_value(&v, at, e))
		return false;
	place = memory ? param->place : param->place + offset / 8;
	if (!memory && bt_is(&t, "[") && v.kind == CUDA_KIND_PTR && has_value(&to, at, e))
		fprintf(w->out, "((%s *)%s)", type_name(&to, name, sizeof(name)),
			bt_word(&w->b->frame, place, word, sizeof(word)));
	else if (!e->at)
		write_value(w->out, &v, how, memory, bt_word(&w->b->frame, place, word, sizeof(word)), offset);
	if (v.kind == CUDA_KIND_ENUM)
		w->b->type = v.type;
	return !e->at;
}

/* Writes the return value; at: the word retval. */
static bool write_result(struct walk *w, const char *at, enum how how)
{
	const struct cuda_value *v = &w->b->proto->result;

	if (!strcmp(v->type, "?")) {	/* declared in no header */
		fputs("retval", w->out);
		return true;
	}
	if (v->kind == CUDA_KIND_NONE)
		return bt_fail(w->e, at, "this function returns void");
	if (!has_value(v, at, w->e))
		return false;
	write_value(w->out, v, how, false, "retval", 0);
	if (v->kind == CUDA_KIND_ENUM)
		w->b->type = v->type;
	return true;
}

/* .NAME or ->NAME at p */
static bool member_follows(const char *p, const char *end, struct bt_token *name)
{
	struct bt_error ignored = {};

	return bt_lex_nonspace(p, end, name, &ignored) && (bt_is(name, ".") || bt_is(name, "->")) &&
	       bt_lex_nonspace(name->s + name->len, end, name, &ignored) && name->kind == BT_IDENT;
}

static const struct cuda_param *param_of(const struct cuda_proto *proto, const struct bt_token *name)
{
	for (int i = 0; i < proto->nparams; i++)
		if (bt_is(name, proto->params[i].name))
			return &proto->params[i];
	return NULL;
}

static enum bt_outcome no_argument(const struct cuda_proto *proto, const struct bt_token *name,
				   struct bt_error *e)
{
	char list[250] = "";
	size_t len = 0;

	for (int i = 0; i < proto->nparams && len < sizeof(list) - 60; i++)
		len += snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
				proto->params[i].name);
	bt_fail(e, name->s, "%s has no argument '%.*s'%s%s", proto->name,
		(int)(name->len < 60 ? name->len : 60), name->s,
		len ? "; its arguments are " : "; it takes none", list);
	return BT_NO_ARGUMENT;
}

/* Return true if the star dereferences args.NAME, a pointer, as a product with an address makes no sense.
 * Sets *args to the token args. */
static bool is_deref(const struct cuda_proto *proto, const struct bt_token *star, const char *end,
		  struct bt_token *args)
{
	const struct cuda_param *param;
	struct bt_error ignored = {};
	struct bt_token name;

	if (!bt_lex_nonspace(star->s + 1, end, args, &ignored) || !bt_is(args, "args") ||
	    !member_follows(args->s + args->len, end, &name))
		return false;
	param = param_of(proto, &name);
	return param && param->value.kind == CUDA_KIND_PTR;
}

static void write_enum_name(struct bt_tables *t, FILE *out, const struct cuda_enum *e, const char *key)
{
	int i = 0;

	while (i < t->nenums && t->enums[i] != e)
		i++;
	if (i == t->nenums) {
		t->enums = xrealloc(t->enums, i + 1, sizeof(*t->enums));
		t->enums[t->nenums++] = e;
	}
	fprintf(out, "@cudabt_%s[%s]", e->type, key);
}

static void write_function_name(struct bt_tables *t, FILE *out, int id)
{
	if (!t->functions)
		t->functions = xcalloc(cuda_protos_n, sizeof(*t->functions));
	t->functions[id] = true;
	fprintf(out, "@cudabt_func[%d]", id);
}

static void fill_enum(const struct cuda_enum *e, FILE *fill, FILE *clear)
{
	for (int i = 0; i < e->n; i++)
		if (cuda_enum_name(e, e->enumerators[i].value) == e->enumerators[i].name)
			fprintf(fill, "\t@cudabt_%s[%lld] = \"%s\";\n", e->type, e->enumerators[i].value,
				e->enumerators[i].name);
	fprintf(clear, "\tclear(@cudabt_%s);\n", e->type);
}

/* The function with the longest name.  It is in the map even if no file has it: bpftrace makes a map's
 * strings as long as the longest stored one, and warns of comparisons with a longer string. */
static int longest(const bool *wanted)
{
	size_t len = 0;
	int found = -1;

	for (int id = 0; id < cuda_protos_n; id++)
		if (wanted[id] && strlen(cuda_protos[id].name) > len) {
			len = strlen(cuda_protos[id].name);
			found = id;
		}
	return found;
}

void bt_tables_write(const struct bt_tables *t, const bool *wanted, FILE *fill, FILE *clear)
{
	int most;

	for (int i = 0; i < t->nenums; i++)
		fill_enum(t->enums[i], fill, clear);
	if (!t->functions)
		return;
	most = longest(wanted);
	for (int id = 0; id < cuda_protos_n; id++)
		if (t->functions[id] || id == most)
			fprintf(fill, "\t@cudabt_func[%d] = \"%s\";\n", id, cuda_protos[id].name);
	fputs("\tclear(@cudabt_func);\n", clear);
}

void bt_tables_free(struct bt_tables *t)
{
	free(t->enums);
	free(t->functions);
}

static void copy(struct walk *w, const struct bt_token *t)
{
	fwrite(t->s, 1, t->len, w->out);
	w->p = t->s + t->len;
}

static enum bt_outcome outcome(bool done)
{
	return done ? BT_DONE : BT_FAILED;
}

/* The argument of str() is an address, not a string. */
static enum how how_at(const struct walk *w)
{
	return bt_is(&w->before[0], "(") && bt_is(&w->before[1], "str") ? ADDRESS : VALUE;
}

/* args.NAME or *args.NAME; t is the token args */
static enum bt_outcome argument(struct walk *w, const struct bt_token *t, bool star)
{
	const struct cuda_proto *proto = w->b->proto;
	const struct cuda_param *param;
	struct bt_token name;

	w->b->saves |= w->b->frame.ret;
	if (!member_follows(t->s + t->len, w->end, &name))
		return outcome(bt_fail(w->e, t->s, "expected an argument name: args.NAME"));
	param = param_of(proto, &name);
	if (!param)
		return no_argument(proto, &name, w->e);
	w->p = name.s + name.len;
	return outcome(write_argument(w, param, how_at(w) | (star ? DEREF : 0)));
}

/* errname(...) and enumname(...) */
static enum bt_outcome bt_body_name_of(struct walk *w, const struct bt_token *t)
{
	const struct cuda_proto *proto = w->b->proto;
	bool error = bt_is(t, "errname");
	const struct cuda_enum *e = NULL;
	struct bt_error ignored = {};
	enum bt_outcome did;
	struct bt_token open;
	const char *close;
	char *key = NULL;
	size_t size;
	FILE *f;

	if (!bt_lex_nonspace(t->s + t->len, w->end, &open, &ignored) || !bt_is(&open, "("))
		return outcome(bt_fail(w->e, t->s, "expected '(' after this"));
	if (!proto)
		return outcome(bt_fail(w->e, t->s, "only valid in a cuda: or cudaret: probe, which "
				       "determines the library"));
	if (++w->b->depth > MAX_DEPTH)
		return outcome(bt_fail(w->e, t->s, "nested too deeply"));
	close = bt_closing(open.s, w->end, w->e);
	if (!close)
		return BT_FAILED;
	w->b->type = NULL;
	f = open_memstream(&key, &size);
	did = bt_body(w->b, open.s + 1, close, f, w->e);
	fclose(f);
	w->b->depth--;
	if (error)
		e = cuda_enum_find(proto->lib == CUDA_RT ? "cudaError_t" : proto->lib == CUDA_NCCL ? "ncclResult_t" :
				   proto->lib == CUDA_NVRTC ? "nvrtcResult" : "CUresult");
	else if (w->b->type)
		e = cuda_enum_find(w->b->type);
	if (did == BT_DONE && e)
		write_enum_name(w->b->tables, w->out, e, key);
	else if (did == BT_DONE)
		did = outcome(bt_fail(w->e, open.s + 1, "not of an enum type"));
	free(key);
	w->p = close + 1;
	return did;
}

/* Return false for the type in struct NAME and for a member x.NAME. */
static bool is_free(const struct walk *w, const struct bt_token *t)
{
	const struct bt_token *before = &w->before[0];

	return t->kind == BT_IDENT && !bt_is(before, ".") && !bt_is(before, "->") &&
	       !bt_is(before, "struct") && !bt_is(before, "union") && !bt_is(before, "enum");
}

static enum bt_outcome word(struct walk *w, const struct bt_token *t)
{
	const struct cuda_proto *proto = w->b->proto;
	bool ret = w->b->frame.ret;

	if (bt_is(t, "errname") || bt_is(t, "enumname"))
		return bt_body_name_of(w, t);
	if (is_constant(t)) {
		w->p = t->s + t->len;
		return outcome(write_constant(w->out, t, w->e));
	}
	if (proto && bt_is(t, "args"))
		return argument(w, t, false);
	if (proto && !ret && (bt_is(t, "retval") || bt_is(t, "duration")))
		return outcome(bt_fail(w->e, t->s, "only available at return: use cudaret:%s", proto->name));
	w->p = t->s + t->len;
	if (proto && bt_is(t, "retval"))
		return outcome(write_result(w, t->s, how_at(w)));
	if (proto && bt_is(t, "duration")) {
		w->b->saves = true;
		fputs("(nsecs - $cudabt.0)", w->out);
	} else if (proto && bt_is(t, "func")) {
		write_function_name(w->b->tables, w->out, proto - cuda_protos);
	} else {
		copy(w, t);
	}
	return BT_DONE;
}

enum bt_outcome bt_body(struct bt_body *b, const char *p, const char *end, FILE *out,
			struct bt_error *e)
{
	struct walk w = { .b = b, .p = p, .end = end, .out = out, .e = e };
	enum bt_outcome did = BT_DONE;
	struct bt_token t, args;

	while (did == BT_DONE) {
		if (!bt_lex(w.p, end, &t, e))
			return BT_FAILED;
		if (t.kind == BT_END)
			break;
		if (is_free(&w, &t))
			did = word(&w, &t);
		else if (b->proto && bt_is(&t, "*") && is_deref(b->proto, &t, end, &args))
			did = argument(&w, &args, true);
		else if (t.kind == BT_VARIABLE && t.len > 6 && !memcmp(t.s + 1, "cudabt", 6))
			did = outcome(bt_fail(e, t.s, "names that begin with cudabt are reserved"));
		else
			copy(&w, &t);
		if (t.kind == BT_SPACE)
			continue;
		w.before[1] = w.before[0];
		w.before[0] = t;
	}
	return did;
}
