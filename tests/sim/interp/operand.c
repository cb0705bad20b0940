/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "load.h"
#include "special.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool slots_reset(struct loader *l)
{
	if (!l->slot_keys) {
		l->max_keys = 4096;
		l->slot_keys = calloc(l->max_keys, sizeof *l->slot_keys);
		l->slot_values = calloc(l->max_keys, sizeof *l->slot_values);
		if (!l->slot_keys || !l->slot_values)
			return fail(l, "no memory", (struct ptx_str){ "", 0 });
	}
	memset(l->slot_keys, 0, l->max_keys * sizeof *l->slot_keys);
	l->num_slots = 0;
	l->next_reg = 1;
	l->wide = false;
	return true;
}

static unsigned key_place(const struct loader *l, uint64_t key)
{
	unsigned i = (unsigned)(key * 0x9e3779b97f4a7c15ull >> 32) & (l->max_keys - 1);

	while (l->slot_keys[i] && l->slot_keys[i] != key)
		i = (i + 1) & (l->max_keys - 1);
	return i;
}

static bool keys_double(struct loader *l)
{
	uint64_t *keys = l->slot_keys;
	unsigned *values = l->slot_values, max = l->max_keys;

	l->slot_keys = calloc((size_t)max * 2, sizeof *keys);
	l->slot_values = calloc((size_t)max * 2, sizeof *values);
	l->max_keys = max * 2;
	for (unsigned i = 0; l->slot_keys && l->slot_values && i < max; i++)
		if (keys[i]) {
			unsigned to = key_place(l, keys[i]);

			l->slot_keys[to] = keys[i];
			l->slot_values[to] = values[i];
		}
	free(keys);
	free(values);
	return l->slot_keys && l->slot_values;
}

/* Registers get slots when they are first used: those that are only declared cost nothing. */
static int slot_of(struct loader *l, uint64_t key, unsigned bits)
{
	unsigned i = key_place(l, key), more = bits > 64 ? 2 : 1;

	if (l->slot_keys[i])
		return (int)l->slot_values[i];
	if (l->num_slots * 2 > l->max_keys) {
		if (!keys_double(l))
			return -1;
		i = key_place(l, key);
	}
	for (unsigned k = 0; k < more; k++) {
		if (!grow(&l->slot_bits, l->num_slots + k, &l->max_slot_bits, 1))
			return -1;
		l->slot_bits[l->num_slots + k] = (unsigned char)(bits > 64 ? 64 : bits);
	}
	l->wide |= more > 1;
	l->slot_keys[i] = key;
	l->slot_values[i] = l->num_slots;
	l->num_slots += more;
	return (int)l->slot_values[i];
}

int register_slot(struct loader *l, struct ptx_str text, unsigned *bits)
{
	struct name *name = names_find(&l->names, text);
	struct ptx_str stem = text;
	uint64_t number = 0, ten = 1;

	if (name && name->kind == NAME_REG && !name->count)
		return slot_of(l, name->value, *bits = name->bits);
	if (name && name->kind != NAME_REG)
		return -1;
	/* %r12 of %r<100>; the stem itself may end in a digit */
	while (stem.n > 1 && isdigit((unsigned char)stem.s[stem.n - 1]) && text.n - stem.n < 10) {
		number += ten * (uint64_t)(stem.s[--stem.n] - '0');
		ten *= 10;
		name = names_find(&l->names, stem);
		if (name && name->kind == NAME_REG && number < name->count)
			return slot_of(l, name->value + number, *bits = name->bits);
	}
	return -1;
}

bool operand_add(struct loader *l, struct operand operand)
{
	struct interp_module *m = l->m;

	if (!grow(&m->operands, m->num_operands, &m->max_operands, sizeof *m->operands))
		return fail(l, "no memory", (struct ptx_str){ "", 0 });
	m->operands[m->num_operands++] = operand;
	return true;
}

enum { CONSTANT_HEADS = 1 << 14 };

bool operand_constant(struct loader *l, uint64_t value, struct operand *operand)
{
	struct interp_module *m = l->m;
	unsigned head = (unsigned)(value * 0x9e3779b97f4a7c15ull >> 50), i;

	if (!l->constant_heads && !(l->constant_heads = calloc(CONSTANT_HEADS, sizeof *l->constant_heads)))
		return false;
	for (i = l->constant_heads[head]; i && m->constants[i - 1][0] != value; i = l->constant_next[i - 1])
		;
	if (!i) {
		if (!grow(&m->constants, m->num_constants, &m->max_constants, sizeof *m->constants) ||
		    !grow(&l->constant_next, m->num_constants, &l->max_constant_next, sizeof *l->constant_next))
			return false;
		i = m->num_constants++;
		for (unsigned lane = 0; lane < 32; lane++)
			m->constants[i][lane] = value;
		l->constant_next[i] = l->constant_heads[head];
		l->constant_heads[head] = ++i;
	}
	*operand = (struct operand){ .kind = OPERAND_CONST, .bits = 64, .n = i - 1 };
	return true;
}

/* What stands for an address or a function. */
static bool named(struct loader *l, const struct name *name, struct operand *o)
{
	switch (name->kind) {
	case NAME_SHARED:
		l->f->uses_shared |= name->module;
		return operand_constant(l, name->value, o);
	case NAME_VARIABLE:
	case NAME_ENTRY_PARAM:
		return operand_constant(l, name->value, o);
	case NAME_FUNCTION:
		return operand_constant(l, WINDOW_CODE + 16 * (name->value + 1), o);
	case NAME_DYNAMIC:
		*o = (struct operand){ .kind = OPERAND_DYNAMIC, .bits = 64 };
		return true;
	case NAME_LOCAL:
		*o = (struct operand){ .kind = OPERAND_LOCAL, .bits = 64, .n = (unsigned)name->value };
		return true;
	case NAME_PARAM:
		*o = (struct operand){ .kind = OPERAND_PARAM, .bits = 64, .n = (unsigned)name->value, .size = (unsigned)name->size };
		return true;
	default:
		return false;
	}
}

bool operand_parse(struct loader *l, struct ptx_str text, enum alu_type type, struct operand *o)
{
	struct name *name;
	unsigned bits;
	uint64_t value;
	int slot;

	text = ptx_trim(text);
	*o = (struct operand){ .kind = OPERAND_SINK };
	if (ptx_str_is(text, "_"))
		return true;
	if (text.n && *text.s == '!') {
		if (!operand_parse(l, ptx_trim((struct ptx_str){ text.s + 1, text.n - 1 }), type, o) || o->kind != OPERAND_REG)
			return fail(l, "an operand that is not known", text);
		o->inverted = !o->inverted;
		return true;
	}
	if (number_parse(text, type, &value)) {
		if (!operand_constant(l, value, o))
			return fail(l, "no memory", text);
		return true;
	}
	if (!text.n)
		return fail(l, "an operand is missing", text);
	slot = register_slot(l, text, &bits);
	if (slot >= 0) {
		*o = (struct operand){ .kind = OPERAND_REG, .bits = (unsigned char)bits, .n = (unsigned)slot };
		return true;
	}
	if (*text.s == '%' && special_parse(text, &o->n)) {
		o->kind = OPERAND_SPECIAL;
		o->bits = 64;
		return true;
	}
	if (ptx_str_is(text, "WARP_SZ"))
		return operand_constant(l, 32, o);
	name = names_find(&l->names, text);
	if (name && named(l, name, o))
		return true;
	/* name + 4, as in mov */
	for (size_t i = text.n; i-- > 1; )
		if (text.s[i] == '+' || text.s[i] == '-') {
			uint64_t more;

			name = names_find(&l->names, ptx_trim((struct ptx_str){ text.s, i }));
			if (!name || !number_parse((struct ptx_str){ text.s + i, text.n - i }, ALU_NONE, &more) || !named(l, name, o))
				break;
			if (o->kind == OPERAND_CONST)
				return operand_constant(l, l->m->constants[o->n][0] + more, o);
			if (o->kind == OPERAND_LOCAL) {
				o->n += (unsigned)more;
				return true;
			}
			break;
		}
	return fail(l, "an operand that is not known", text);
}

int operands_vector(struct loader *l, struct ptx_str text, enum alu_type type)
{
	struct operand o;
	struct lexer x;
	int n = 0;

	text = ptx_trim(text);
	if (!text.n || *text.s != '{') {
		if (!operand_parse(l, text, type, &o) || !operand_add(l, o))
			return -1;
		return 1;
	}
	if (text.s[text.n - 1] != '}')
		return -1;
	x = lexer_of((struct ptx_str){ text.s + 1, text.n - 2 });
	while (x.p <= x.end) {
		const char *comma = memchr(x.p, ',', (size_t)(x.end - x.p));

		if (!comma)
			comma = x.end;
		if (n == 64 || !operand_parse(l, (struct ptx_str){ x.p, (size_t)(comma - x.p) }, type, &o) || !operand_add(l, o))
			return -1;
		n++;
		x.p = comma + 1;
	}
	return n;
}

bool operand_address(struct loader *l, struct ptx_str text, unsigned char *space, int64_t *offset)
{
	struct ptx_str base;
	struct operand o;
	struct name *name;
	struct lexer x;
	uint64_t more;

	text = ptx_trim(text);
	*offset = 0;
	if (text.n < 2 || *text.s != '[' || text.s[text.n - 1] != ']')
		return fail(l, "an address that is not known", text);
	text = ptx_trim((struct ptx_str){ text.s + 1, text.n - 2 });
	if (number_parse(text, ALU_NONE, &more)) {
		base = text;
	} else {
		x = lexer_of(text);
		base = lexer_next(&x);
		text = ptx_trim((struct ptx_str){ x.p, (size_t)(x.end - x.p) });
		if (text.n) {
			if ((*text.s != '+' && *text.s != '-') || !number_parse(text, ALU_NONE, &more))
				return fail(l, "an offset that is not known", text);
			*offset = (int64_t)more;
		}
	}
	name = names_find(&l->names, base);
	if (*space == SPACE_PARAM && name && name->kind == NAME_ENTRY_PARAM)
		*space = SPACE_ENTRY_PARAM;
	if (!operand_parse(l, base, ALU_U64, &o))
		return false;
	if (*space == SPACE_PARAM && o.kind == OPERAND_REG)
		*space = SPACE_ENTRY_PARAM;
	if (o.kind == OPERAND_PARAM) {		/* its place is known */
		if (*space != SPACE_PARAM)
			return fail(l, "a parameter's address is not known here", base);
		*offset += o.n;
		if (!operand_constant(l, 0, &o))
			return false;
	}
	return operand_add(l, o);
}
