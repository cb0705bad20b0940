/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "load.h"
#include <ctype.h>

static bool space_word(struct ptx_str word, struct decl *d)
{
	static const struct {
		const char *word;
		enum decl_space space;
	} spaces[] = {
		{ ".reg", DECL_REG }, { ".param", DECL_PARAM }, { ".global", DECL_GLOBAL }, { ".const", DECL_CONST },
		{ ".shared", DECL_SHARED }, { ".local", DECL_LOCAL },
	};

	for (unsigned i = 0; i < sizeof spaces / sizeof *spaces; i++)
		if (ptx_str_is(word, spaces[i].word)) {
			if (!d->space)		/* .param .u64 .ptr .global name */
				d->space = spaces[i].space;
			return true;
		}
	return false;
}

bool decl_begin(struct lexer *x, struct decl *d)
{
	struct ptx_str word, inside;

	*d = (struct decl){ .vector = 1, .align = 0 };
	for (;;) {
		word = lexer_peek(x);
		if (!word.n || *word.s != '.')
			break;
		lexer_next(x);
		if (space_word(word, d)) {
			if (d->space == DECL_CONST && lexer_take(x, '[') && !lexer_group(x, ']', &inside))
				return false;
		} else if (ptx_str_is(word, ".align")) {
			unsigned align;

			if (!count_parse(lexer_next(x), &align))
				return false;
			if (!d->pointer)	/* of .ptr .align: of what it points to */
				d->align = align;
		} else if (ptx_str_is(word, ".ptr")) {
			d->pointer = true;
		} else if (ptx_str_is(word, ".extern")) {
			d->external = true;
		} else if (ptx_str_is(word, ".v2") || ptx_str_is(word, ".v4") || ptx_str_is(word, ".v8")) {
			d->vector = (unsigned)(word.s[2] - '0');
		} else if (ptx_str_is(word, ".attribute")) {
			if (!lexer_take(x, '(') || !lexer_group(x, ')', &inside))
				return false;
		} else if (ptx_str_is(word, ".texref") || ptx_str_is(word, ".samplerref") || ptx_str_is(word, ".surfref")) {
			d->type = ALU_B64;
		} else if (alu_type_of((struct ptx_str){ word.s + 1, word.n - 1 })) {
			d->type = alu_type_of((struct ptx_str){ word.s + 1, word.n - 1 });
		} else if (!ptx_str_is(word, ".visible") && !ptx_str_is(word, ".weak") && !ptx_str_is(word, ".common")) {
			return false;
		}
	}
	return d->space && d->type;
}

unsigned decl_element(const struct decl *d)
{
	unsigned bits = alu_bits((enum alu_type)d->type);

	return (bits < 8 ? 1 : bits / 8) * d->vector;
}

bool decl_name(struct lexer *x, struct decl *d)
{
	struct ptx_str inside;
	uint64_t n;

	d->dims = 0;
	d->count = 0;
	d->init.n = 0;
	d->name = lexer_next(x);
	if (!d->name.n || !(isalpha((unsigned char)*d->name.s) || *d->name.s == '_' || *d->name.s == '$' || *d->name.s == '%'))
		return false;
	d->size = decl_element(d);
	if (!d->align)
		d->align = (unsigned)d->size;
	if (!d->align || d->align & (d->align - 1) || d->align > 4096)
		return false;
	if (lexer_take(x, '<')) {
		if (!count_parse(lexer_next(x), &d->count) || !d->count || !lexer_take(x, '>'))
			return false;
	}
	while (lexer_take(x, '[')) {
		if (d->dims == DECL_DIMS || !lexer_group(x, ']', &inside))
			return false;
		inside = ptx_trim(inside);
		n = 0;
		if (inside.n && !number_parse(inside, ALU_NONE, &n))
			return false;
		d->dim[d->dims++] = n;
		if (__builtin_mul_overflow(d->size, n, &d->size) || d->size > 1ull << 40)
			return false;
	}
	if (lexer_take(x, '=')) {
		d->init = (struct ptx_str){ x->p, (size_t)(x->end - x->p) };
		x->p = x->end;
	}
	return true;
}
