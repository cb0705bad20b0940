/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "text.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct lexer lexer_of(struct ptx_str text)
{
	return (struct lexer){ text.s, text.s + text.n };
}

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

static void skip_blank(struct lexer *x)
{
	for (;;) {
		const char *p = x->p;

		while (x->p < x->end && isspace((unsigned char)*x->p))
			x->p++;
		if (x->end - x->p >= 2 && x->p[0] == '/' && x->p[1] == '/') {
			const char *line = memchr(x->p, '\n', (size_t)(x->end - x->p));

			x->p = line ? line : x->end;
		} else if (x->end - x->p >= 2 && x->p[0] == '/' && x->p[1] == '*') {
			const char *close = memmem(x->p + 2, (size_t)(x->end - x->p - 2), "*/", 2);

			x->p = close ? close + 2 : x->end;
		}
		if (x->p == p)
			return;
	}
}

struct ptx_str lexer_next(struct lexer *x)
{
	struct ptx_str word;

	skip_blank(x);
	word.s = x->p;
	while (x->p < x->end && in_word(*x->p))
		x->p++;
	if (x->p == word.s && x->p < x->end)
		x->p++;
	word.n = (size_t)(x->p - word.s);
	return word;
}

struct ptx_str lexer_peek(const struct lexer *x)
{
	struct lexer copy = *x;

	return lexer_next(&copy);
}

bool lexer_take(struct lexer *x, char c)
{
	skip_blank(x);
	if (x->p == x->end || *x->p != c)
		return false;
	x->p++;
	return true;
}

bool lexer_group(struct lexer *x, char close, struct ptx_str *inside)
{
	char open = close == ')' ? '(' : close == ']' ? '[' : '{';
	unsigned depth = 1;

	for (inside->s = x->p; x->p < x->end; x->p++) {
		depth += *x->p == open;
		depth -= *x->p == close;
		if (!depth) {
			inside->n = (size_t)(x->p++ - inside->s);
			return true;
		}
	}
	return false;
}

static uint64_t bits_of(double d, enum alu_type type)
{
	float f = (float)d;
	uint32_t half;
	uint64_t whole;

	memcpy(&half, &f, 4);
	memcpy(&whole, &d, 8);
	return type == ALU_F32 || type == ALU_TF32 ? half : whole;
}

bool number_parse(struct ptx_str t, enum alu_type type, uint64_t *value)
{
	char copy[80], *end;
	bool minus = false;

	t = ptx_trim(t);
	while (t.n && (*t.s == '-' || *t.s == '+')) {
		minus ^= *t.s == '-';
		t = ptx_trim((struct ptx_str){ t.s + 1, t.n - 1 });
	}
	if (!t.n || t.n >= sizeof copy || (!isdigit((unsigned char)*t.s) && *t.s != '.'))
		return false;
	memcpy(copy, t.s, t.n);
	copy[t.n] = 0;
	if (copy[0] == '0' && strchr("fFdD", copy[1]) && copy[1]) {
		bool single = tolower((unsigned char)copy[1]) == 'f';
		uint64_t bits = strtoull(copy + 2, &end, 16);

		if (single && type == ALU_F64) {	/* a single where a double is wanted */
			uint32_t half = (uint32_t)bits;
			float f;

			memcpy(&f, &half, 4);
			bits = bits_of(f, ALU_F64);
		} else if (!single && type == ALU_F32) {
			double d;

			memcpy(&d, &bits, 8);
			bits = bits_of(d, ALU_F32);
		}
		*value = minus ? bits ^ (single && type != ALU_F64 ? 1ull << 31 : type == ALU_F32 ? 1ull << 31 : 1ull << 63) : bits;
	} else if (copy[0] == '0' && tolower((unsigned char)copy[1]) == 'b') {
		*value = strtoull(copy + 2, &end, 2);
		*value = minus ? -*value : *value;
	} else if (strchr(copy, '.') || (strpbrk(copy, "eE") && tolower((unsigned char)copy[1]) != 'x')) {
		double d = strtod(copy, &end);

		*value = bits_of(minus ? -d : d, type);
	} else {
		*value = strtoull(copy, &end, 0);
		if (*end == 'U' || *end == 'u')
			end++;
		*value = minus ? -*value : *value;
		if (type == ALU_F32 || type == ALU_F64)		/* an integer where a float is wanted */
			*value = copy[0] == '0' && copy[1] ? *value : bits_of((double)(int64_t)*value, type);
	}
	return !*end;
}

bool count_parse(struct ptx_str t, unsigned *value)
{
	uint64_t v;

	if (!number_parse(t, ALU_NONE, &v) || v > 0xffffffff)
		return false;
	*value = (unsigned)v;
	return true;
}
