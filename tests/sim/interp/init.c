/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Initial values: { 1, { 2, 3 }, name + 4, generic(name), 0xFF00(name), 0f3F800000 }. */
#include "load.h"
#include <ctype.h>
#include <string.h>

/* Takes the next element, up to a comma or brace; n is 0 where there is none. */
static struct ptx_str element_next(struct lexer *x)
{
	struct ptx_str text = { x->p, 0 };
	unsigned parens = 0;

	for (; x->p < x->end && (parens || !strchr(",{};", *x->p)); x->p++) {
		parens += *x->p == '(';
		parens -= *x->p == ')' && parens;
	}
	text.n = (size_t)(x->p - text.s);
	return ptx_trim(text);
}

uint64_t init_count(const struct decl *d)
{
	struct lexer x = lexer_of(d->init);
	uint64_t n = 0;
	unsigned depth = 0;

	for (; x.p < x.end; x.p++) {
		struct ptx_str text = element_next(&x);

		n += text.n && depth == 1;
		if (x.p == x.end)
			break;
		n += *x.p == '{' && depth == 1;
		depth += *x.p == '{';
		if (*x.p == '}' && !--depth)
			break;
	}
	return n;
}

static bool address_parse(struct loader *l, struct ptx_str text, uint64_t *value)
{
	struct lexer x = lexer_of(text);
	struct ptx_str word = lexer_next(&x), inside;
	struct name *name;
	uint64_t more;

	if (ptx_str_is(word, "generic") && lexer_take(&x, '(')) {
		if (!lexer_group(&x, ')', &inside))
			return false;
		word = ptx_trim(inside);
	}
	name = names_find(&l->names, word);
	if (!name)
		return false;
	if (name->kind == NAME_FUNCTION)
		*value = WINDOW_CODE + 16 * (name->value + 1);
	else if (name->kind == NAME_VARIABLE || name->kind == NAME_SHARED)
		*value = name->value;
	else
		return false;
	inside = ptx_trim((struct ptx_str){ x.p, (size_t)(x.end - x.p) });
	if (inside.n) {
		if (!number_parse(inside, ALU_NONE, &more))
			return false;
		*value += more;
	}
	return true;
}

static bool value_parse(struct loader *l, struct ptx_str text, enum alu_type type, uint64_t *value)
{
	const char *open = memchr(text.s, '(', text.n);
	uint64_t mask;

	if (!isdigit((unsigned char)*text.s) || !open)
		return number_parse(text, type, value) || address_parse(l, text, value);
	/* 0xFF00(name): the second byte of the address */
	if (text.s[text.n - 1] != ')' || !number_parse((struct ptx_str){ text.s, (size_t)(open - text.s) }, ALU_NONE, &mask) ||
	    !mask || !address_parse(l, (struct ptx_str){ open + 1, (size_t)(text.s + text.n - open - 2) }, value))
		return false;
	*value = (*value & mask) >> __builtin_ctzll(mask);
	return true;
}

bool init_write(struct loader *l, const struct decl *d, unsigned char *memory)
{
	uint64_t stride[DECL_DIMS + 1], at = 0, element = decl_element(d) / d->vector, value;
	struct lexer x = lexer_of(d->init);
	unsigned depth = 0;

	/* what a brace of this depth holds; a brace that closes goes on after all of it */
	stride[d->dims] = decl_element(d);
	for (unsigned i = d->dims; i--; )
		stride[i] = stride[i + 1] * d->dim[i];
	for (; x.p < x.end; x.p++) {
		struct ptx_str text = element_next(&x);

		if (text.n) {
			if (at > d->size || d->size - at < element)
				return fail(l, "too many initial values", d->name);
			if (!value_parse(l, text, d->type, &value))
				return fail(l, "an initial value that is not known", text);
			memcpy(memory + at, &value, element);
			at += element;
		}
		if (x.p == x.end || *x.p == ';')
			break;
		if (*x.p == '{') {
			depth++;
		} else if (*x.p == '}') {
			uint64_t whole = depth && depth - 1 <= d->dims ? stride[depth - 1] : 0;

			if (whole && at % whole)
				at += whole - at % whole;
			if (depth < 2)
				break;
			depth--;
		}
	}
	return true;
}
