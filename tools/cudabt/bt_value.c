/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "api/cuda_structs.h"
#include "api/match.h"
#include "cudabt/bt_value.h"

enum { TYPE_SIZE = 16, MEMBERS = 300 };	/* bytes for a type, and for the names of members */

static bool begins(const struct bt_token *t, const char *with)
{
	return t->len > strlen(with) && !memcmp(t->s, with, strlen(with));
}

bool bt_is_constant(const struct bt_token *t)
{
	return begins(t, "CU_") || begins(t, "CUDA_") ||
	       (begins(t, "cuda") && t->s[4] >= 'A' && t->s[4] <= 'Z');
}

bool bt_constant(FILE *out, const struct bt_token *t, struct bt_error *e)
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
		return "its members are not known";
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
	} else if (place <= 6) {
		snprintf(word, size, "arg%u", place - 1);
	} else {
		/* above the return address; bpftrace 0.25 dropped sarg0 */
		snprintf(word, size, "*(uint64 *)(reg(\"sp\") + %u)", 8 * (place - 6));
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

static void write_value(FILE *out, const struct cuda_value *v, enum bt_how how, bool memory,
			const char *word, unsigned offset)
{
	bool string = v->kind == CUDA_KIND_STR && !(how & BT_ADDRESS);
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

/* As bt_argument(), but *p is just past NAME; false with *e set if bpftrace cannot hold the value. */
static bool write_argument(FILE *out, struct bt_frame *f, const struct cuda_param *param, enum bt_how how,
			   const char **p, const char *end, const char **type, struct bt_error *e)
{
	const char *at = *p - strlen(param->name);
	const struct cuda_value to = target_of(param);
	struct cuda_value v = param->value;
	bool memory = how & BT_DEREF;
	char name[TYPE_SIZE], word[BT_WORD_SIZE];
	unsigned offset = 0, place;
	struct bt_token t;

	if (!param->place)
		return bt_fail(e, at, "this is a %s, passed in a register that probes cannot read", v.type);
	if (memory)
		v = to;
	for (; bt_lex(*p, end, &t, e); *p = t.s + t.len) {
		bool pointer = v.kind == CUDA_KIND_PTR && !memory && is_struct(&to);

		if (!(bt_is(&t, ".") || bt_is(&t, "->")) || !(pointer || is_struct(&v)))
			break;
		if (pointer)
			v = to;
		memory |= pointer;
		if (!bt_lex_nonspace(t.s + t.len, end, &t, e) || !enter_member(&v, &offset, &t, e))
			return false;
	}
	if (e->at || !has_value(&v, at, e))
		return false;
	place = memory ? param->place : param->place + offset / 8;
	if (!memory && bt_is(&t, "[") && v.kind == CUDA_KIND_PTR && has_value(&to, at, e))
		fprintf(out, "((%s *)%s)", type_name(&to, name, sizeof(name)),
			bt_word(f, place, word, sizeof(word)));
	else if (!e->at)
		write_value(out, &v, how, memory, bt_word(f, place, word, sizeof(word)), offset);
	*type = v.kind == CUDA_KIND_ENUM ? v.type : *type;
	return !e->at;
}

bool bt_result(FILE *out, const struct cuda_value *v, enum bt_how how, const char *at,
	       const char **type, struct bt_error *e)
{
	if (!strcmp(v->type, "?")) {	/* declared in no header */
		fputs("retval", out);
		return true;
	}
	if (v->kind == CUDA_KIND_NONE)
		return bt_fail(e, at, "this function returns void");
	if (!has_value(v, at, e))
		return false;
	write_value(out, v, how, false, "retval", 0);
	*type = v->kind == CUDA_KIND_ENUM ? v->type : *type;
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

enum bt_outcome bt_argument(FILE *out, struct bt_frame *f, const struct cuda_proto *proto, enum bt_how how,
			    const char **p, const char *end, const char **type, struct bt_error *e)
{
	const struct cuda_param *param;
	struct bt_token name;

	if (!member_follows(*p, end, &name)) {
		bt_fail(e, *p - strlen("args"), "expected an argument name: args.NAME");
		return BT_FAILED;
	}
	param = param_of(proto, &name);
	if (!param)
		return no_argument(proto, &name, e);
	*p = name.s + name.len;
	return write_argument(out, f, param, how, p, end, type, e) ? BT_DONE : BT_FAILED;
}

/* Not a product: multiplying by an address makes no sense. */
bool bt_is_deref(const struct cuda_proto *proto, const struct bt_token *star, const char *end,
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
