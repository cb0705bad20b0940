/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "api/match.h"

static size_t without_stream(const char *name, size_t len)
{
	return len > 5 && (!memcmp(name + len - 5, "_ptsz", 5) || !memcmp(name + len - 5, "_ptds", 5)) ?
	       len - 5 : len;
}

static size_t without_version(const char *name, size_t len)
{
	size_t n = len;

	while (n && isdigit((unsigned char)name[n - 1]))
		n--;
	return n < len && n > 2 && !memcmp(name + n - 2, "_v", 2) ? n - 2 : len;
}

size_t match_plain_length(const char *name)
{
	return without_version(name, without_stream(name, strlen(name)));
}

/* Backtracks only to the last star, so the time is at most the product of both lengths. */
static bool matches(const char *name, size_t len, const char *pattern, size_t plen)
{
	size_t i = 0, p = 0, star = plen, from = 0;

	while (i < len) {
		if (p < plen && pattern[p] == '*') {
			star = p++;
			from = i;
		} else if (p < plen && (pattern[p] == '?' || pattern[p] == name[i])) {
			p++;
			i++;
		} else if (star < plen) {
			p = star + 1;
			i = ++from;
		} else {
			return false;
		}
	}
	while (p < plen && pattern[p] == '*')
		p++;
	return p == plen;
}

bool match_name(const char *name, const char *pattern, size_t len)
{
	size_t full = strlen(name), stream = without_stream(name, full);

	return matches(name, full, pattern, len) || matches(name, stream, pattern, len) ||
	       matches(name, without_version(name, stream), pattern, len);
}

enum { NEAR = 2 };

/* The Levenshtein distance, ignoring case. */
static unsigned distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned row[MATCH_NEAR_NAME + 1];

	for (size_t j = 0; j <= m; j++)
		row[j] = j;
	for (size_t i = 1; i <= n; i++) {
		unsigned corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			unsigned d = corner + (tolower((unsigned char)a[i - 1]) !=
					       tolower((unsigned char)b[j - 1]));

			corner = row[j];
			if (row[j - 1] + 1 < d)
				d = row[j - 1] + 1;
			if (row[j] + 1 < d)
				d = row[j] + 1;
			row[j] = d;
		}
	}
	return row[m];
}

void match_near_try(struct match_near *n, const char *candidate, size_t len)
{
	unsigned d;
	int at = MATCH_NEAR;

	if (n->len > MATCH_NEAR_NAME || len > MATCH_NEAR_NAME)
		return;
	for (int i = 0; i < MATCH_NEAR && n->names[i]; i++)	/* _ptsz */
		if (n->lens[i] == len && !memcmp(n->names[i], candidate, len))
			return;
	d = distance(n->name, n->len, candidate, len);
	if (d > NEAR && n->len >= 3 && n->len < len && !strncasecmp(candidate, n->name, n->len))
		d = NEAR;	/* it begins so */
	if (d > NEAR && d > n->len / 3)
		return;
	while (at && (!n->names[at - 1] || n->distances[at - 1] > d))
		at--;
	for (int i = MATCH_NEAR - 1; i > at; i--) {
		n->names[i] = n->names[i - 1];
		n->lens[i] = n->lens[i - 1];
		n->distances[i] = n->distances[i - 1];
	}
	if (at == MATCH_NEAR)
		return;
	n->names[at] = candidate;
	n->lens[at] = len;
	n->distances[at] = d;
}

const char *match_near_text(const struct match_near *n, char *text, size_t size)
{
	int k = 0;

	while (k < MATCH_NEAR && n->names[k])
		k++;
	*text = 0;
	for (int i = 0; i < k; i++) {
		size_t len = strlen(text);

		snprintf(text + len, size - len, "%s%.*s%s", !i ? "; did you mean " :
			 i < k - 1 ? ", " : " or ", (int)n->lens[i], n->names[i], i < k - 1 ? "" : "?");
	}
	return text;
}
