/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "cudalaunchtop/name_fit.h"
#include "cudalaunchtop/name_order.h"
#include "cudalaunchtop/name_words.h"

/* The words that are kept of a text, by where they begin, in order. */
struct kept {
	const char *text;
	size_t words[256];
	int n;
};

/* The text between two words that are kept, or what stands for it if that is shorter. */
static int between(const struct name_fit *fit, const char *text, size_t from, size_t to, char **out)
{
	int columns = name_columns(text + from, to - from);
	bool whole = columns <= fit->gap_columns;

	if (out && whole)
		*out = mempcpy(*out, text + from, to - from);
	else if (out)
		*out = stpcpy(*out, fit->gap);
	return whole ? columns : fit->gap_columns;
}

/* Returns the columns of what is kept, and writes it unless out is NULL. */
static int kept_columns(const struct name_fit *fit, const struct kept *k, char *out)
{
	size_t end = 0;
	int columns = 0;

	for (int i = 0; i < k->n; i++) {
		size_t word = k->words[i], next = name_word_next(k->text, word);

		columns += between(fit, k->text, end, word, out ? &out : NULL);
		columns += name_columns(k->text + word, next - word);
		if (out)
			out = mempcpy(out, k->text + word, next - word);
		end = next;
	}
	return columns + between(fit, k->text, end, strlen(k->text), out ? &out : NULL);
}

/* Adds a word unless it is there or makes the name too long; returns whether there was room for it. */
static bool keep(const struct name_fit *fit, struct kept *k, size_t word, int columns)
{
	struct kept with = *k;
	int i = k->n;

	while (i && k->words[i - 1] > word)
		i--;
	if (!k->text[word] || (i && k->words[i - 1] == word))
		return true;
	if (k->n == sizeof(k->words) / sizeof(*k->words))
		return false;
	memmove(&with.words[i + 1], &with.words[i], (k->n - i) * sizeof(*with.words));
	with.words[i] = word;
	with.n++;
	if (kept_columns(fit, &with, NULL) > columns)
		return false;
	*k = with;
	return true;
}

/* The words where the name parts from others, from those that are most like it on.  Long names of a
 * program that means harm could have many such places. */
static void keep_different(const struct name_fit *fit, size_t at, struct kept *k, int columns)
{
	const struct fitted *f = fit->names;
	long left = (long)at - 1, right = at;

	for (int steps = 0; steps < 256 && (left >= 0 || right >= 0); steps++) {
		bool go_left = right < 0 || (left >= 0 && f[left].shared > f[right].shared);
		long *side = go_left ? &left : &right;

		keep(fit, k, f[*side].shared, columns);
		*side = go_left ? f[left].before : f[right].after;
	}
}

/* Few words that are too long are skipped, to fill what is left. */
static void keep_first(const struct name_fit *fit, struct kept *k, int columns)
{
	int skipped = 0;

	for (size_t w = 0; k->text[w] && skipped < 3; w = name_word_next(k->text, w))
		skipped += !keep(fit, k, w, columns);
}

static char *kept_text(const struct name_fit *fit, const struct kept *k)
{
	char *text = xcalloc(strlen(k->text) + (k->n + 1) * strlen(fit->gap) + 1, 1);

	kept_columns(fit, k, text);
	return text;
}

char *name_fit(const struct name_fit *fit, size_t i, int columns)
{
	const struct fitted *f = i < fit->n ? &fit->names[fit->at[i]] : NULL;
	struct kept kept = { .text = f ? f->text : NULL };

	if (!f)
		return NULL;
	if (name_columns(f->name, strlen(f->name)) <= columns)
		return xstrdup(f->name);
	if (name_columns(f->text, strlen(f->text)) <= columns)
		return xstrdup(f->text);
	keep(fit, &kept, 0, columns);
	keep_different(fit, fit->at[i], &kept, columns);
	keep_first(fit, &kept, columns);
	return kept_text(fit, &kept);
}
