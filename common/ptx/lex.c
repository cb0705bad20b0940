// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "ptx/lex.h"
#include <limits.h>
#include <string.h>

const char *lex_comment(const char *p, const char *end)
{
	if (end - p < 2 || p[0] != '/')
		return p;
	if (p[1] == '/') {
		const char *line = memchr(p, '\n', (size_t)(end - p));

		return line ? line : end;
	}
	if (p[1] != '*')
		return p;
	for (p += 2; end - p >= 2; p++)
		if (p[0] == '*' && p[1] == '/')
			return p + 2;
	return end;
}

const char *lex_blank(const char *p, const char *end)
{
	for (;;) {
		const char *start = p;

		while (p < end && lex_is_space(*p))
			p++;
		p = lex_comment(p, end);
		if (p == start)
			return p;
	}
}

const char *lex_blank_line(const char *p, const char *end)
{
	for (;;) {
		const char *start = p;

		while (p < end && *p != '\n' && lex_is_space(*p))
			p++;
		p = lex_comment(p, end);
		if (p == start)
			return p;
	}
}

const char *lex_string(const char *p, const char *end)
{
	for (p++; p < end; p++) {
		if (*p == '"')
			return p + 1;
		if (*p == '\\' && end - p > 1)
			p++;
	}
	return end;
}

const char *lex_word(const char *p, const char *end)
{
	while (p < end && lex_is_word(*p))
		p++;
	return p;
}

const char *lex_braces(const char *p, const char *end)
{
	size_t depth = 0;

	while (p < end) {
		const char *start = p;

		p = *p == '"' ? lex_string(p, end) : lex_comment(p, end);
		if (p != start)
			continue;
		if (*p == '{')
			depth++;
		else if (*p == '}')
			depth--;
		p++;
		if (!depth)
			break;
	}
	return p;
}

bool lex_starts(const char *p, const char *end, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(end - p) >= n && !memcmp(p, word, n) && ((size_t)(end - p) == n || !lex_is_word(p[n]));
}

bool lex_number(const char **p, const char *end, unsigned *number)
{
	const char *q = lex_blank(*p, end), *digits = q;
	unsigned n = 0;

	for (; q < end && lex_is_digit(*q); q++) {
		if (n > (UINT_MAX - 9) / 10)
			return false;
		n = n * 10 + (unsigned)(*q - '0');
	}
	if (q == digits)
		return false;
	*p = q;
	*number = n;
	return true;
}
