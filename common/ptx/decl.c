// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "ptx/decl.h"
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include "ptx/lex.h"

/* In scope at once: ".reg .b32 a,a,a" has one in two bytes, and each takes 40. */
enum { DECLS_MAX = 1 << 22 };

uint32_t ptx_seed(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM);
	uint32_t seed = 0;

	if (random)
		memcpy(&seed, random, sizeof(seed));
	return seed;
}

uint32_t ptx_hash(uint32_t seed, struct ptx_str str)
{
	uint32_t hash = seed;

	for (size_t i = 0; i < str.n; i++)
		hash = (hash ^ (unsigned char)str.s[i]) * 16777619u;
	return hash ^ hash >> 15;
}

int ptx_type_bits(struct ptx_str type)
{
	int number = 0;
	size_t i = 0;

	if (ptx_str_is(type, "pred"))
		return 1;
	if (ptx_str_is(type, "f16x2") || ptx_str_is(type, "bf16x2"))
		return 32;
	if (ptx_str_is(type, "bf16"))
		return 16;
	if (type.n < 2 || type.n > 4 || !memchr("bsuf", type.s[0], 4))
		return 0;
	for (i = 1; i < type.n && lex_is_digit(type.s[i]); i++)
		number = number * 10 + type.s[i] - '0';
	if (i < type.n)
		return 0;
	return number == 8 || number == 16 || number == 32 || number == 64 || number == 128 ? number : 0;
}

static uint32_t *bucket(const struct ptx_decls *decls, struct ptx_str name)
{
	return &decls->bucket[ptx_hash(decls->seed, name) & ((1u << decls->bits) - 1)];
}

/* Makes room for one more; the buckets are as many as the declarations or more. */
static bool grow(struct ptx_decls *decls)
{
	uint32_t max = decls->max ? decls->max * 2 : 64;
	struct ptx_decl *decl;
	uint32_t *table;

	if (max > DECLS_MAX)
		return false;
	decl = realloc(decls->decl, max * sizeof(*decl));
	if (!decl)
		return false;
	decls->decl = decl;
	table = calloc(max, sizeof(*table));
	if (!table)
		return false;
	free(decls->bucket);
	if (!decls->max)
		decls->seed = ptx_seed();
	decls->bucket = table;
	decls->max = max;
	decls->bits = (unsigned)__builtin_ctz(max);
	for (uint32_t i = 0; i < decls->n; i++) {
		uint32_t *head = bucket(decls, decl[i].name);

		decl[i].hidden = *head;
		*head = i + 1;
	}
	return true;
}

static void add(struct ptx_decls *decls, struct ptx_decl decl)
{
	uint32_t *head;

	if (decls->n == decls->max && !grow(decls)) {
		decls->failed = true;
		return;
	}
	head = bucket(decls, decl.name);
	decl.hidden = *head;
	decls->decl[decls->n++] = decl;
	*head = decls->n;
}

void ptx_declare(struct ptx_decls *decls, struct ptx_str body, int depth)
{
	const char *p = body.s + strlen(".reg"), *end = body.s + body.n;
	struct ptx_decl decl = { .depth = depth };
	int vector = 1;

	for (;;) {
		struct ptx_str type;

		p = lex_blank(p, end);
		if (p == end || *p != '.')
			break;
		type.s = ++p;
		p = lex_word(p, end);
		type.n = (size_t)(p - type.s);
		if (ptx_str_is(type, "v2") || ptx_str_is(type, "v4"))
			vector = 0;	/* its elements have names of their own: %v.x */
		decl.bits = ptx_type_bits(type) * vector;
	}
	while (p < end) {
		const char *next;

		p = lex_blank(p, end);
		decl.name.s = p;
		p = lex_word(p, end);
		decl.name.n = (size_t)(p - decl.name.s);
		next = lex_blank(p, end);
		decl.range = next < end && *next == '<';
		if (decl.name.n)
			add(decls, decl);
		while (p < end && *p != ',')
			p++;
		p += p < end;
	}
}

void ptx_undeclare(struct ptx_decls *decls, int depth)
{
	while (decls->n && decls->decl[decls->n - 1].depth > depth) {
		const struct ptx_decl *last = &decls->decl[--decls->n];

		*bucket(decls, last->name) = last->hidden;
	}
}

void ptx_decls_free(struct ptx_decls *decls)
{
	free(decls->decl);
	free(decls->bucket);
	memset(decls, 0, sizeof(*decls));
}

/* The latest declaration of a name, + 1. */
static uint32_t find(const struct ptx_decls *decls, struct ptx_str name, bool range)
{
	uint32_t i;

	for (i = *bucket(decls, name); i; i = decls->decl[i - 1].hidden) {
		const struct ptx_decl *decl = &decls->decl[i - 1];

		if (decl->range == range && decl->name.n == name.n && !memcmp(decl->name.s, name.s, name.n))
			break;
	}
	return i;
}

int ptx_register_bits(const struct ptx_decls *decls, struct ptx_str name)
{
	struct ptx_str stem = name;
	uint32_t one, range = 0;

	if (!decls->n || !name.n)
		return 0;
	one = find(decls, name, false);
	while (stem.n && lex_is_digit(stem.s[stem.n - 1]))
		stem.n--;
	if (stem.n && stem.n < name.n)
		range = find(decls, stem, true);
	if (range > one)
		one = range;
	return one ? decls->decl[one - 1].bits : 0;
}
