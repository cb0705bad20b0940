// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include <string.h>
#include "ptx/lex.h"
#include "ptx/ptx.h"

struct ptx_str ptx_next_word(struct ptx_str *rest)
{
	const char *p = rest->s, *end = rest->s + rest->n;
	struct ptx_str word;

	while (p < end && !lex_is_word(*p)) {
		const char *start = p;

		p = *p == '"' ? lex_string(p, end) : lex_comment(p, end);
		p += p == start;
	}
	word.s = p;
	p = lex_word(p, end);
	word.n = (size_t)(p - word.s);
	rest->s = p;
	rest->n = (size_t)(end - p);
	return word;
}

/* .version, .target, .address_size, .file and .loc have no ; at their end.  They end with the line, unless it ends in a
 * comma, or before a word that cannot be an argument: a statement in the same line. */
static const char *skip_directive(const char *p, const char *end)
{
	bool word = true;	/* the next argument may be a word */

	p = lex_word(p + 1, end);
	for (;;) {
		const char *q = lex_blank_line(p, end);

		if (q < end && *q == ',') {
			word = true;
			p = lex_blank(q + 1, end);
		} else if (q < end && *q == '"') {
			word = false;
			p = lex_string(q, end);
		} else if (q < end && (lex_is_digit(*q) || *q == '+' || *q == '-')) {
			word = false;
			for (p = q + 1; p < end && (lex_is_word(*p) || *p == '.'); p++)
				;
		} else if (q < end && word && (lex_is_word(*q) || *q == '.') && !lex_starts(q, end, ".loc") &&
			   !lex_starts(q, end, ".target") && !lex_starts(q, end, ".address_size")) {
			/* ", function_name LABEL" has two */
			word = lex_starts(q, end, "function_name");
			p = lex_word(q + 1, end);
		} else {
			return p;
		}
	}
}

static bool is_directive(const char *p, const char *end)
{
	return lex_starts(p, end, ".loc") || lex_starts(p, end, ".file") || lex_starts(p, end, ".version") ||
	       lex_starts(p, end, ".target") || lex_starts(p, end, ".address_size");
}

/* A statement of the module, to its ; or to the { of a function's body. */
static const char *module_statement(struct ptx_reader *reader, const char *p, struct ptx_stmt *stmt)
{
	const char *end = reader->end, *begin = p;
	bool function = false, initializer = false;
	char last = 0;	/* the last character that is no blank */

	if (is_directive(p, end))
		return skip_directive(p, end);
	while (p < end) {
		const char *blank = lex_blank(p, end);

		if (blank != p) {
			p = blank;
			continue;
		}
		if (*p == '"') {
			p = lex_string(p, end);
			last = '"';
			continue;
		}
		if (*p == '{') {
			if (function) {
				stmt->kind = PTX_FUNC;
				reader->depth = 1;
				return p + 1;
			}
			p = lex_braces(p, end);
			if (!initializer)
				return p;	/* .section */
			continue;
		}
		/* .entry f() .pragma "x"; {		the ; is not the end */
		if (*p == ';' && !(function && last == '"'))
			return p + 1;
		initializer |= *p == '=';
		if (*p == '.' && !function)
			function = lex_starts(p, end, ".entry") || lex_starts(p, end, ".func");
		last = *p;
		p++;
	}
	/* without an end: only a } that is too many is a statement of its own */
	return *begin == '}' ? begin + 1 : p;
}

/* A statement of a function, to its ; or before a } that it has not opened. */
static const char *body_statement(struct ptx_reader *reader, const char *p, struct ptx_stmt *stmt)
{
	const char *end = reader->end, *word;

	if (*p == '{') {
		stmt->kind = PTX_OPEN;
		reader->depth++;
		return p + 1;
	}
	if (*p == '}') {
		stmt->kind = PTX_CLOSE;
		stmt->depth = --reader->depth;
		return p + 1;
	}
	if (is_directive(p, end))
		return skip_directive(p, end);
	word = lex_word(p, end);
	if (word > p) {
		const char *colon = lex_blank(word, end);

		if (colon < end && *colon == ':' && !(end - colon > 1 && colon[1] == ':')) {
			stmt->kind = PTX_LABEL;
			return colon + 1;
		}
	}
	if (*p != '.')
		stmt->kind = PTX_INSN;
	else if (lex_starts(p, end, ".reg"))
		stmt->kind = PTX_REG;
	while (p < end && *p != '}') {
		const char *blank = lex_blank(p, end);

		if (blank != p)
			p = blank;
		else if (*p == '{')	/* a vector, or an initializer */
			p = lex_braces(p, end);
		else if (*p == '"')
			p = lex_string(p, end);
		else if (*p++ == ';')
			break;
	}
	return p;
}

bool ptx_next(struct ptx_reader *reader, struct ptx_stmt *stmt)
{
	const char *p = lex_blank(reader->p, reader->end);

	stmt->kind = PTX_TEXT;
	stmt->text.s = reader->p;
	stmt->body.s = p;
	stmt->depth = reader->depth;
	if (p == reader->end) {
		stmt->kind = PTX_END;
		reader->p = p;
	} else if (reader->depth > 0) {
		reader->p = body_statement(reader, p, stmt);
	} else {
		reader->p = module_statement(reader, p, stmt);
	}
	stmt->text.n = (size_t)(reader->p - stmt->text.s);
	stmt->body.n = (size_t)(reader->p - stmt->body.s);
	return stmt->kind != PTX_END;
}

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

/* Modifiers can be separated: "ld.global .u32". */
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

/* An operand, to the next comma or to the end. */
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

/* At an opening parenthesis: sets the text up to the closing one, and returns the position after it. */
static const char *parentheses(const char *p, const char *end, struct ptx_str *between)
{
	size_t depth = 0;

	between->s = p + 1;
	while (p < end) {
		const char *blank = lex_blank(p, end);

		if (blank != p) {
			p = blank;
			continue;
		}
		if (*p == '(')
			depth++;
		else if (*p == ')' && !--depth) {
			between->n = (size_t)(p - between->s);
			return p + 1;
		}
		p++;
	}
	between->n = (size_t)(end - between->s);
	return end;
}

bool ptx_head_parse(struct ptx_str body, struct ptx_head *head)
{
	const char *p = body.s, *end = body.s + body.n;

	memset(head, 0, sizeof(*head));
	head->result.s = head->params.s = body.s;
	for (;; p++) {
		const char *blank = lex_blank(p, end);

		if (blank == end)
			return false;
		p = *blank == '"' ? lex_string(blank, end) - 1 : blank;
		if (lex_starts(p, end, ".entry")) {
			head->entry = true;
			p += strlen(".entry");
			break;
		}
		if (lex_starts(p, end, ".func")) {
			p += strlen(".func");
			break;
		}
	}
	p = lex_blank(p, end);
	/* .func .attribute(…) (result) name */
	if (lex_starts(p, end, ".attribute")) {
		struct ptx_str attribute;

		p = lex_blank(p + strlen(".attribute"), end);
		if (p < end && *p == '(')
			p = lex_blank(parentheses(p, end, &attribute), end);
	}
	if (p < end && *p == '(')
		p = lex_blank(parentheses(p, end, &head->result), end);
	head->name.s = p;
	p = lex_word(p, end);
	head->name.n = (size_t)(p - head->name.s);
	p = lex_blank(p, end);
	if (p < end && *p == '(')
		p = parentheses(p, end, &head->params);
	if (end > p && (end[-1] == '{' || end[-1] == ';'))
		end--;
	head->rest = (struct ptx_str){ p, (size_t)(end - p) };
	return head->name.n > 0;
}
