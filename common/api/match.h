/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Names that were written: what they stand for, and what was meant where they stand for nothing. */
#ifndef MATCH_H
#define MATCH_H
#include <stdbool.h>
#include <stddef.h>

/* Return true if the pattern, in which * stands for any characters and ? for one, means the
 * function.  A function goes by its name, and by it without _ptsz, _ptds and then without _v2:
 * cuMemcpyHtoDAsync stands for cuMemcpyHtoDAsync_v2_ptsz too. */
bool match_name(const char *name, const char *pattern, size_t len);

/* The length of the name without all of these. */
size_t match_plain_length(const char *name);

enum {
	MATCH_NEAR = 3,
	MATCH_NEAR_NAME = 64,	/* longer names are like nothing */
	MATCH_NEAR_TEXT = 32 + MATCH_NEAR * (MATCH_NEAR_NAME + 4),
};

/* The candidates that are most like a name. */
struct match_near {
	const char *name;	/* as it was written */
	size_t len;
	const char *names[MATCH_NEAR];	/* the best first; NULL = none */
	size_t lens[MATCH_NEAR];
	unsigned distances[MATCH_NEAR];
};

/* Looks whether the candidate, of which only len bytes count, is one of the nearest. */
void match_near_try(struct match_near *n, const char *candidate, size_t len);

/* Writes "; did you mean a, b or c?", or nothing, of at most MATCH_NEAR_TEXT bytes with the end,
 * into text; returns text. */
const char *match_near_text(const struct match_near *n, char *text, size_t size);

#endif
