/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "cudabt/bt_type.h"
#include "cudabt/bt_value.h"

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

/* a value in a register or stack word, starting at one of its bits */
static void in_word(FILE *out, const struct cuda_value *v, const char *word, unsigned bit)
{
	char type[BT_TYPE_SIZE];

	if (v->size != 8)
		fprintf(out, "(%s)", bt_type(v, type, sizeof(type)));
	if (bit)
		fprintf(out, "(%s >> %u)", word, bit);
	else
		fputs(word, out);
}

static void write_value(FILE *out, const struct cuda_value *v, enum bt_how how, bool memory,
			const char *word, unsigned offset)
{
	bool string = v->kind == CUDA_KIND_STR && !(how & BT_ADDRESS);
	char type[BT_TYPE_SIZE];

	if (string)
		fputs("str(", out);
	if (memory && offset)
		fprintf(out, "(*(%s *)(%s + %u))", bt_type(v, type, sizeof(type)), word, offset);
	else if (memory)
		fprintf(out, "(*(%s *)%s)", bt_type(v, type, sizeof(type)), word);
	else
		in_word(out, v, word, offset % 8 * 8);
	if (string)
		putc(')', out);
}

bool bt_value(FILE *out, struct bt_frame *f, const struct cuda_param *param, enum bt_how how,
	      const char **p, const char *end, const char **type, struct bt_error *e)
{
	const char *at = *p - strlen(param->name);
	const struct cuda_value to = bt_type_target(param);
	struct cuda_value v = param->value;
	bool memory = how & BT_TARGET;
	char name[BT_TYPE_SIZE], word[BT_WORD_SIZE];
	unsigned offset = 0, place;
	struct bt_token t;

	if (!param->place)
		return bt_fail(e, at, "this is a %s, passed in a register that probes cannot read", v.type);
	if (memory)
		v = to;
	for (; bt_next(*p, end, &t, e); *p = t.s + t.len) {
		bool pointer = v.kind == CUDA_KIND_PTR && !memory && bt_is_struct(&to);

		if (!(bt_is(&t, ".") || bt_is(&t, "->")) || !(pointer || bt_is_struct(&v)))
			break;
		if (pointer)
			v = to;
		memory |= pointer;
		if (!bt_next_word(t.s + t.len, end, &t, e) || !bt_type_member(&v, &offset, &t, e))
			return false;
	}
	if (e->at || !bt_type_has_value(&v, at, e))
		return false;
	place = memory ? param->place : param->place + offset / 8;
	if (!memory && bt_is(&t, "[") && v.kind == CUDA_KIND_PTR && bt_type_has_value(&to, at, e))
		fprintf(out, "((%s *)%s)", bt_type(&to, name, sizeof(name)),
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
	if (!bt_type_has_value(v, at, e))
		return false;
	write_value(out, v, how, false, "retval", 0);
	*type = v->kind == CUDA_KIND_ENUM ? v->type : *type;
	return true;
}
