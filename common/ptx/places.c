// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "ptx/places.h"
#include <stdlib.h>
#include <string.h>
#include "ptx/decl.h"
#include "ptx/lex.h"
#include "ptx/words.h"

/* Of one function: ".loc 1 2 3" has one in 10 bytes, and each takes 32. */
enum { PLACES_MAX = 1 << 22 };

static uint32_t *bucket(const struct ptx_places *places, const struct ptx_place *at)
{
	return &places->bucket[ptx_hash(places->seed, (struct ptx_str){ (const char *)at, sizeof(*at) }) & (places->max - 1)];
}

void ptx_places_begin(struct ptx_places *places)
{
	places->current = 0;
	while (places->n)	/* not all buckets: there may be more functions than places */
		*bucket(places, &places->loc[--places->n].at) = 0;
}

static bool same(const struct ptx_place *a, const struct ptx_place *b)
{
	return a->file == b->file && a->line == b->line && a->column == b->column;
}

static uint32_t find(const struct ptx_places *places, const struct ptx_place *at)
{
	uint32_t i = places->max ? *bucket(places, at) : 0;

	while (i && !same(&places->loc[i - 1].at, at))
		i = places->loc[i - 1].next;
	return i;
}

static bool grow(struct ptx_places *places)
{
	uint32_t max = places->max ? places->max * 2 : 256, *table;
	struct ptx_loc *loc;

	if (max > PLACES_MAX)
		return false;
	loc = realloc(places->loc, max * sizeof(*loc));
	if (!loc)
		return false;
	places->loc = loc;
	table = calloc(max, sizeof(*table));
	if (!table)
		return false;
	free(places->bucket);
	if (!places->max)
		places->seed = ptx_seed();
	places->bucket = table;
	places->max = max;
	for (uint32_t i = 0; i < places->n; i++) {
		uint32_t *head = bucket(places, &loc[i].at);

		loc[i].next = *head;
		*head = i + 1;
	}
	return true;
}

static bool read_place(const char **p, const char *end, struct ptx_place *place)
{
	return lex_number(p, end, &place->file) && lex_number(p, end, &place->line) &&
	       lex_number(p, end, &place->column);
}

/* .loc 1 20 5[, function_name LABEL, inlined_at 2 7 3] */
bool ptx_places_loc(struct ptx_places *places, struct ptx_str body)
{
	const char *p = body.s + strlen(".loc"), *end = body.s + body.n;
	struct ptx_loc loc = { 0 };
	struct ptx_str rest, word;
	uint32_t i;

	if (!lex_starts(body.s, end, ".loc") || !read_place(&p, end, &loc.at))
		return false;
	rest = (struct ptx_str){ p, (size_t)(end - p) };
	while ((word = lex_next_word(&rest)).n)
		if (ptx_str_is(word, "inlined_at")) {
			if (!read_place(&rest.s, end, &loc.by))
				memset(&loc.by, 0, sizeof(loc.by));
			break;
		}
	i = find(places, &loc.at);
	if (i) {
		places->loc[i - 1].by = loc.by;
	} else if (places->n < places->max || grow(places)) {
		uint32_t *head = bucket(places, &loc.at);

		loc.next = *head;
		places->loc[places->n++] = loc;
		*head = i = places->n;
	} else {
		places->failed = true;
	}
	places->current = i;
	return true;
}

/* A call may come from a line that has no code of its own: then nothing is known of what that was inlined at. */
unsigned ptx_places_chain(const struct ptx_places *places, struct ptx_place *place, unsigned max)
{
	uint32_t i = places->current;
	unsigned n = 0;

	while (i && n < max) {
		const struct ptx_loc *loc = &places->loc[i - 1];

		place[n++] = loc->at;
		if (!loc->by.line || n == max)
			break;
		i = find(places, &loc->by);
		if (!i)
			place[n++] = loc->by;
	}
	return n;
}

void ptx_places_free(struct ptx_places *places)
{
	free(places->loc);
	free(places->bucket);
	memset(places, 0, sizeof(*places));
}
