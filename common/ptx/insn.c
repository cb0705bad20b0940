// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include <string.h>
#include "ptx/ptx.h"
#include "ptx/lex.h"

static const char *read_guard(const char *p, const char *end, struct ptx_insn *insn)
{
	p = lex_blank(p, end);
	if (p < end && *p == '!') {
		insn->negated = true;
		p = lex_blank(p + 1, end);
	}
	insn->guard.s = p;
	p = lex_word(p, end);
	insn->guard.n = (size_t)(p - insn->guard.s);
	return lex_blank(p, end);
}

/* Modifiers may stand apart: "ld.global .u32". */
static const char *read_op(const char *p, const char *end, struct ptx_insn *insn)
{
	insn->op.s = p;
	for (;;) {
		const char *next;

		while (p < end && (lex_is_word(*p) || *p == '.' || *p == ':'))
			p++;
		insn->op.n = (size_t)(p - insn->op.s);
		for (next = p; next < end && lex_is_space(*next); next++)
			;
		if (next == p || next == end || *next != '.')
			return lex_blank(p, end);
		p = next;
	}
}

/* An operand, to the comma behind it or to the end. */
static const char *read_operand(const char *p, const char *end, struct ptx_str *arg)
{
	size_t nest = 0;
	const char *last;

	p = lex_blank(p, end);
	arg->s = last = p;
	while (p < end) {
		const char *blank = lex_blank(p, end);

		if (blank != p) {
			p = blank;
			continue;
		}
		if (*p == ',' && !nest)
			break;
		if (*p == '{' || *p == '[' || *p == '(')
			nest++;
		else if ((*p == '}' || *p == ']' || *p == ')') && nest)
			nest--;
		last = ++p;
	}
	arg->n = (size_t)(last - arg->s);
	return p;
}

bool ptx_insn_parse(struct ptx_str body, struct ptx_insn *insn)
{
	const char *p = body.s, *end = body.s + body.n;

	memset(insn, 0, sizeof(*insn));
	if (end > p && end[-1] == ';')
		end--;
	p = lex_blank(p, end);
	if (p < end && *p == '@') {
		p = read_guard(p + 1, end, insn);
		if (!insn->guard.n)
			return false;
	}
	p = read_op(p, end, insn);
	if (!insn->op.n)
		return false;
	if (p == end)
		return true;
	for (;;) {
		if (insn->n == PTX_OPERANDS)
			return false;
		p = read_operand(p, end, &insn->arg[insn->n++]);
		if (p == end)
			return true;
		p++;
	}
}

bool ptx_str_is(struct ptx_str str, const char *text)
{
	return str.n == strlen(text) && !memcmp(str.s, text, str.n);
}

static bool ends_modifier(struct ptx_str op, size_t at)
{
	return at == op.n || op.s[at] == '.' || op.s[at] == ':' || lex_is_space(op.s[at]);
}

bool ptx_has(struct ptx_str op, const char *modifier)
{
	size_t n = strlen(modifier);

	for (size_t i = 0; i + n <= op.n; i++)
		if (!memcmp(op.s + i, modifier, n) && ends_modifier(op, i + n))
			return true;
	return false;
}

bool ptx_op_is(struct ptx_str op, const char *name)
{
	size_t n = strlen(name);

	return op.n >= n && !memcmp(op.s, name, n) && ends_modifier(op, n);
}

struct ptx_str ptx_trim(struct ptx_str str)
{
	while (str.n && lex_is_space(*str.s)) {
		str.s++;
		str.n--;
	}
	while (str.n && lex_is_space(str.s[str.n - 1]))
		str.n--;
	return str;
}
