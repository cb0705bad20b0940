/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Matches function names that users write, and suggests names similar to one that matches none. */
#ifndef API_MATCH_H
#define API_MATCH_H
#include <stdbool.h>
#include <stddef.h>

/* Return true if the pattern of len bytes, in which * matches any characters and ? any one, matches
 * the function's name, or the name without _ptsz or _ptds, or that without _v2 too:
 * cuMemcpyHtoDAsync also matches cuMemcpyHtoDAsync_v2_ptsz. */
bool match_name(const char *name, const char *pattern, size_t len);

/* Returns the length of the name without any of these suffixes. */
size_t match_plain_length(const char *name);

enum {
	MATCH_NEAR = 3,
	MATCH_NEAR_NAME = 64,	/* longer names match nothing */
	MATCH_NEAR_TEXT = 32 + MATCH_NEAR * (MATCH_NEAR_NAME + 4),
};

/* The candidates most similar to a name. */
struct match_near {
	const char *name;	/* as the user wrote it */
	size_t len;
	const char *names[MATCH_NEAR];	/* best first; NULL = none */
	size_t lens[MATCH_NEAR];
	unsigned distances[MATCH_NEAR];
};

/* Adds the candidate, of which only len bytes count, if it is among the nearest. */
void match_near_try(struct match_near *n, const char *candidate, size_t len);

/* Writes "; did you mean a, b or c?" or an empty string into text, at most MATCH_NEAR_TEXT bytes
 * with the '\0'; returns text. */
const char *match_near_text(const struct match_near *n, char *text, size_t size);

#endif
