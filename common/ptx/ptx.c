// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "ptx/ptx.h"
#include "ptx/lex.h"

/* .version, .target, .address_size, .file and .loc have no ; at their end.  They end with the line, unless a comma
 * is last there, or before a word that cannot be an argument: a statement in the same line. */
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
