/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "base/die.h"
#include "cudaexporter/kernel_label.h"

/* FNV-1a: base/hash.h's differs from run to run, a label must not. */
static unsigned hash(const char *text)
{
	unsigned h = 2166136261u;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619u;
	return h;
}

/* Drops what is open up to the last parenthesis. */
static int close_parenthesis(const char *open, int n)
{
	while (n && open[n - 1] == '<')
		n--;
	return n ? n - 1 : 0;
}

/* The end of the arguments that begin at text[0] = '<'; NULL if they do not end.  In parentheses, '>' may be an
 * operator. */
static const char *arguments_end(const char *text)
{
	char open[256];
	int n = 0;

	do {
		if (*text == '<' || *text == '(')
			open[n++] = *text;
		else if (*text == ')')
			n = close_parenthesis(open, n);
		else if (*text == '>' && text[-1] != '-' && open[n - 1] == '<')
			n--;
	} while (*text++ && n && n < (int)sizeof(open));
	return !n && text[-1] == '>' ? text : NULL;
}

/* Return true if arguments of a template begin here, not "operator<" or "<lambda". */
static bool is_arguments(const char *name, const char *at)
{
	static const char word[] = "operator";
	size_t before = at - name;

	if (*at != '<' || !before || !(isalnum((unsigned char)at[-1]) || at[-1] == '_'))
		return false;
	return before < sizeof(word) - 1 || strncmp(at - (sizeof(word) - 1), word, sizeof(word) - 1);
}

static char *without_arguments(const char *name)
{
	char *text = xcalloc(strlen(name) + 1, 1), *to = text;
	bool ends = true;	/* the last arguments did: else each '<' would be read to the end */

	for (const char *at = name; *at; ) {
		const char *end = ends && is_arguments(name, at) ? arguments_end(at) : NULL;

		ends = ends && (end || !is_arguments(name, at));
		if (end)
			at = end;
		else
			*to++ = *at++;
	}
	return text;
}

void kernel_label(char label[KERNEL_LABEL_SIZE], const char *name)
{
	char *text = without_arguments(name);
	size_t n = strlen(text);

	if (n <= KERNEL_LABEL_TEXT) {
		memcpy(label, text, n + 1);
	} else {
		for (n = KERNEL_LABEL_TEXT; n > KERNEL_LABEL_TEXT - 4 && (text[n] & 0xc0) == 0x80; n--)
			;
		snprintf(label, KERNEL_LABEL_SIZE, "%.*s#%08x", (int)n, text, hash(text));
	}
	free(text);
}
