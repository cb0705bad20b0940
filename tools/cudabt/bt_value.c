/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "cudabt/bt_value.h"
#include "cudatrace/trace_struct.h"

static const struct field {
	const char *of, *name, *type;
	unsigned char kind;
	unsigned short offset, size;
} fields[] = {
	{ "dim3", "x", "unsigned int", CUDA_KIND_UINT, 0, 4 },
	{ "dim3", "y", "unsigned int", CUDA_KIND_UINT, 4, 4 },
	{ "dim3", "z", "unsigned int", CUDA_KIND_UINT, 8, 4 },
#define X(of, name, kind, type, offset, size) \
	{ #of, #name, CUDA_KIND_##kind == CUDA_KIND_DIM3 ? "dim3" : type, CUDA_KIND_##kind, offset, \
	  size },
	TRACE_STRUCTS(X)
#undef X
};
enum { FIELDS = sizeof(fields) / sizeof(*fields) };

static const char *plain_type(const char *type)
{
	return !strncmp(type, "struct ", 7) ? type + 7 : type;
}

static bool is_struct(const struct cuda_value *v)
{
	return v->kind == CUDA_KIND_STRUCT || v->kind == CUDA_KIND_DIM3;
}

/* What the parameter points to, as far as that is known: of structs, those in the table. */
static struct cuda_value target_of(const struct cuda_param *param)
{
	const char *type = plain_type(param->value.type);
	size_t len = strlen(type);

	if (param->to.kind == CUDA_KIND_NONE && len > 2 && !strcmp(type + len - 2, " *"))
		for (int i = 0; i < FIELDS; i++)
			if (strlen(fields[i].of) == len - 2 && !memcmp(fields[i].of, type, len - 2))
				return (struct cuda_value){ fields[i].of, CUDA_KIND_STRUCT, 0 };
	return param->to;
}

/* "its members are x, y, z", or that they are not known */
static const char *members(const struct cuda_value *v)
{
	static char text[300];
	size_t len = 0;

	for (int i = 0; i < FIELDS; i++)
		if (!strcmp(fields[i].of, plain_type(v->type)) && len < sizeof(text) - 60)
			len += snprintf(text + len, sizeof(text) - len, "%s%s",
					len ? ", " : "its members are ", fields[i].name);
	return len ? text : "its members are not known";
}

/* Of the struct *v: *v becomes its member, *offset where that is. */
static bool member(struct cuda_value *v, unsigned *offset, const struct bt_token *name,
		   struct bt_error *e)
{
	for (int i = 0; i < FIELDS; i++) {
		if (strcmp(fields[i].of, plain_type(v->type)) || !bt_is(name, fields[i].name))
			continue;
		*offset += fields[i].offset;
		*v = (struct cuda_value){ fields[i].type, fields[i].kind, fields[i].size };
		return true;
	}
	return bt_fail(e, name->s, "%s has no member '%.*s': %s", v->type, (int)name->len, name->s,
		       members(v));
}

const char *bt_word(struct bt_frame *f, unsigned place)
{
	static char word[24];
	int i = 0;

	if (f->ret) {
		while (i < f->nsaved && f->saved[i] != place)
			i++;
		if (i == f->nsaved && i < BT_SAVED)
			f->saved[f->nsaved++] = place;
		snprintf(word, sizeof(word), "$cudabt.%d", i + 1);
	} else if (place <= 6) {
		snprintf(word, sizeof(word), "arg%u", place - 1);
	} else {
		snprintf(word, sizeof(word), "sarg%u", place - 7);
	}
	return word;
}

/* Its type in bpftrace; static storage. */
static const char *type_of(const struct cuda_value *v)
{
	const struct cuda_enum *e = v->kind == CUDA_KIND_ENUM ? cuda_enum_find(v->type) : NULL;
	bool is_signed = v->kind == CUDA_KIND_INT || v->kind == CUDA_KIND_ENUM;
	static char name[16];

	for (int i = 0; e && i < e->n; i++)
		if (e->enumerators[i].value > 0x7fffffff)	/* then its values are unsigned */
			is_signed = false;
	snprintf(name, sizeof(name), "%sint%u", is_signed ? "" : "u", v->size * 8);
	return name;
}

static bool has_value(const struct cuda_value *v, const char *at, struct bt_error *e)
{
	if (v->kind == CUDA_KIND_FLOAT)
		return bt_fail(e, at, "this is a %s, and bpftrace has no floating point support", v->type);
	if (is_struct(v))
		return bt_fail(e, at, "this is a %s: %s", v->type, members(v));
	if (v->kind == CUDA_KIND_NONE || (v->size & (v->size - 1)) || v->size < 1 || v->size > 8)
		return bt_fail(e, at, "pointer to an unknown type; use *(uint64 *)args.NAME to read "
			       "8 bytes");
	return true;
}

/* in a register or a word on the stack, from one of its bits on */
static void in_word(FILE *out, const struct cuda_value *v, const char *word, unsigned bit)
{
	bool whole = v->size == 8;

	if (!whole)
		fprintf(out, "(%s)", type_of(v));
	if (bit)
		fprintf(out, "(%s >> %u)", word, bit);
	else
		fputs(word, out);
}

static void write_value(FILE *out, const struct cuda_value *v, enum bt_how how, bool memory,
			const char *word, unsigned offset)
{
	bool string = v->kind == CUDA_KIND_STR && !(how & BT_ADDRESS);

	if (string)
		fputs("str(", out);
	if (memory && offset)
		fprintf(out, "(*(%s *)(%s + %u))", type_of(v), word, offset);
	else if (memory)
		fprintf(out, "(*(%s *)%s)", type_of(v), word);
	else
		in_word(out, v, word, offset % 8 * 8);
	if (string)
		putc(')', out);
}

bool bt_value(FILE *out, struct bt_frame *f, const struct cuda_param *param, enum bt_how how,
	      const char **p, const char *end, const char **type, struct bt_error *e)
{
	const char *at = *p - strlen(param->name);
	const struct cuda_value to = target_of(param);
	struct cuda_value v = param->value;
	bool memory = how & BT_TARGET;
	unsigned offset = 0, place;
	struct bt_token t;

	if (!param->place)
		return bt_fail(e, at, "this is a %s, passed in a register that probes cannot read", v.type);
	if (memory)
		v = to;
	for (; bt_next(*p, end, &t, e); *p = t.s + t.len) {
		bool pointer = v.kind == CUDA_KIND_PTR && !memory && is_struct(&to);

		if (!(bt_is(&t, ".") || bt_is(&t, "->")) || !(pointer || is_struct(&v)))
			break;
		if (pointer)
			v = to;
		memory |= pointer;
		if (!bt_next_word(t.s + t.len, end, &t, e) || !member(&v, &offset, &t, e))
			return false;
	}
	if (e->at || !has_value(&v, at, e))
		return false;
	place = memory ? param->place : param->place + offset / 8;
	if (!memory && bt_is(&t, "[") && v.kind == CUDA_KIND_PTR && has_value(&to, at, e))
		fprintf(out, "((%s *)%s)", type_of(&to), bt_word(f, place));
	else if (!e->at)
		write_value(out, &v, how, memory, bt_word(f, place), offset);
	*type = v.kind == CUDA_KIND_ENUM ? v.type : *type;
	return !e->at;
}

bool bt_result(FILE *out, const struct cuda_value *v, enum bt_how how, const char *at,
	       const char **type, struct bt_error *e)
{
	if (!strcmp(v->type, "?")) {	/* in no header */
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
