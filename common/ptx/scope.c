// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include "ptx/lex.h"
#include "ptx/scope.h"

/* Declarations in scope: ".reg .b32 a,a,a" has one in two bytes, and each takes 40. */
enum { DECLS_MAX = 1 << 22 };

/* A seed for hashes, which a file's author cannot know. */
static uint32_t ptx_seed(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM);
	uint32_t seed = 0;

	if (random)
		memcpy(&seed, random, sizeof(seed));
	return seed;
}

static uint32_t ptx_hash(uint32_t seed, struct ptx_str str)
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

/* A function has fewer names than half its bytes. */
bool ptx_uses_begin(struct ptx_uses *uses, size_t bytes)
{
	unsigned bits = 12;

	while (bits < 26 && (size_t)1 << bits < bytes)
		bits++;
	if (!uses->count || bits > uses->max_bits) {
		free(uses->count);
		uses->count = malloc((size_t)2 << bits);
		if (!uses->count)
			return false;
		uses->max_bits = bits;
	}
	uses->bits = bits;
	memset(uses->count, 0, (size_t)2 << bits);
	return true;
}

/* Fixed seeds: the same text must give the same result, and collisions cost no time here. */
static unsigned char *counter(const struct ptx_uses *uses, struct ptx_str name, uint32_t which)
{
	uint32_t hash = ptx_hash(which ? 2654435769u : 2166136261u, name);

	return &uses->count[(size_t)which << uses->bits | (hash & ((1u << uses->bits) - 1))];
}

void ptx_uses_count(struct ptx_uses *uses, struct ptx_str body)
{
	struct ptx_str rest = body, name;

	while ((name = ptx_next_word(&rest)).n)
		for (uint32_t which = 0; which < 2; which++) {
			unsigned char *count = counter(uses, name, which);

			*count += *count < 2;
		}
}

bool ptx_used(const struct ptx_uses *uses, struct ptx_str name)
{
	return *counter(uses, name, 0) > 1 && *counter(uses, name, 1) > 1;
}

void ptx_uses_free(struct ptx_uses *uses)
{
	free(uses->count);
	memset(uses, 0, sizeof(*uses));
}

/* Locations of a function: ".loc 1 2 3" has one in 10 bytes, and each takes 32. */
enum { LOCS_MAX = 1 << 22 };

static uint32_t *loc_bucket(const struct ptx_locs *locs, const struct ptx_source *at)
{
	return &locs->bucket[ptx_hash(locs->seed, (struct ptx_str){ (const char *)at, sizeof(*at) }) & (locs->max - 1)];
}

void ptx_locs_begin(struct ptx_locs *locs)
{
	locs->current = 0;
	while (locs->n)	/* not all buckets: there may be more functions than locations */
		*loc_bucket(locs, &locs->loc[--locs->n].at) = 0;
}

static bool same(const struct ptx_source *a, const struct ptx_source *b)
{
	return a->file == b->file && a->line == b->line && a->column == b->column;
}

static uint32_t loc_find(const struct ptx_locs *locs, const struct ptx_source *at)
{
	uint32_t i = locs->max ? *loc_bucket(locs, at) : 0;

	while (i && !same(&locs->loc[i - 1].at, at))
		i = locs->loc[i - 1].next;
	return i;
}

static bool loc_grow(struct ptx_locs *locs)
{
	uint32_t max = locs->max ? locs->max * 2 : 256, *table;
	struct ptx_loc *loc;

	if (max > LOCS_MAX)
		return false;
	loc = realloc(locs->loc, max * sizeof(*loc));
	if (!loc)
		return false;
	locs->loc = loc;
	table = calloc(max, sizeof(*table));
	if (!table)
		return false;
	free(locs->bucket);
	if (!locs->max)
		locs->seed = ptx_seed();
	locs->bucket = table;
	locs->max = max;
	for (uint32_t i = 0; i < locs->n; i++) {
		uint32_t *head = loc_bucket(locs, &loc[i].at);

		loc[i].next = *head;
		*head = i + 1;
	}
	return true;
}

static bool read_source(const char **p, const char *end, struct ptx_source *source)
{
	return lex_number(p, end, &source->file) && lex_number(p, end, &source->line) &&
	       lex_number(p, end, &source->column);
}

/* .loc 1 20 5[, function_name LABEL, inlined_at 2 7 3] */
bool ptx_locs_add(struct ptx_locs *locs, struct ptx_str body)
{
	const char *p = body.s + strlen(".loc"), *end = body.s + body.n;
	struct ptx_loc loc = { 0 };
	struct ptx_str rest, word;
	uint32_t i;

	if (!lex_starts(body.s, end, ".loc") || !read_source(&p, end, &loc.at))
		return false;
	rest = (struct ptx_str){ p, (size_t)(end - p) };
	while ((word = ptx_next_word(&rest)).n)
		if (ptx_str_is(word, "inlined_at")) {
			if (!read_source(&rest.s, end, &loc.by))
				memset(&loc.by, 0, sizeof(loc.by));
			break;
		}
	i = loc_find(locs, &loc.at);
	if (i) {
		locs->loc[i - 1].by = loc.by;
	} else if (locs->n < locs->max || loc_grow(locs)) {
		uint32_t *head = loc_bucket(locs, &loc.at);

		loc.next = *head;
		locs->loc[locs->n++] = loc;
		*head = i = locs->n;
	} else {
		locs->failed = true;
	}
	locs->current = i;
	return true;
}

/* A line of a call without code of its own ends the chain: where it was inlined is unknown. */
unsigned ptx_locs_chain(const struct ptx_locs *locs, struct ptx_source *source, unsigned max)
{
	uint32_t i = locs->current;
	unsigned n = 0;

	while (i && n < max) {
		const struct ptx_loc *loc = &locs->loc[i - 1];

		source[n++] = loc->at;
		if (!loc->by.line || n == max)
			break;
		i = loc_find(locs, &loc->by);
		if (!i)
			source[n++] = loc->by;
	}
	return n;
}

void ptx_locs_free(struct ptx_locs *locs)
{
	free(locs->loc);
	free(locs->bucket);
	memset(locs, 0, sizeof(*locs));
}
