/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <ctype.h>
#include <string.h>
#include "base/die.h"
#include "cudalaunchtop/name_words.h"

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static bool is_continuation(char c)
{
	return (c & 0xc0) == 0x80;
}

/* Words end before a capital after none, after an underscore, and around any other character. */
static bool joined(char a, char b)
{
	if (is_continuation(b) || (a == ',' && b == ' '))
		return true;
	if (!in_name(a) || !in_name(b))
		return false;
	if (b == '_')
		return true;
	return a != '_' && (!isupper((unsigned char)b) || isupper((unsigned char)a));
}

bool name_word_at(const char *name, size_t at)
{
	return !at || !name[at] || !joined(name[at - 1], name[at]);
}

size_t name_word_next(const char *name, size_t at)
{
	while (name[at] && !name_word_at(name, ++at))
		;
	return at;
}

int name_columns(const char *text, size_t len)
{
	int n = 0;

	for (size_t i = 0; i < len; i++)
		n += !is_continuation(text[i]);
	return n;
}

/* Returns the length of a qualifier that the text begins with, or 0. */
static size_t qualifier(const char *text)
{
	static const char none[] = "(anonymous namespace)::";
	size_t n = 0;

	if (!strncmp(text, none, sizeof(none) - 1))
		return sizeof(none) - 1;
	while (in_name(text[n]))
		n++;
	return n && text[n] == ':' && text[n + 1] == ':' ? n + 2 : 0;
}

char *name_stripped(const char *name)
{
	const char *from = strncmp(name, "void ", 5) ? name : name + 5;
	char *text = xcalloc(strlen(from) + 1, 1), *to = text;

	for (bool inside = false; *from; inside = in_name(*from++)) {
		size_t n = 0;

		while (!inside && (n = qualifier(from)))
			from += n;
		*to++ = *from;
		if (!*from)
			break;
	}
	return text;
}
