/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "base/escape.h"
#include "cudalaunchtop/name_fit.h"

/* A name in the order of the texts. */
struct fitted_name {
	char *name, *text;	/* escaped; without namespaces */
	size_t index;
	size_t shared;		/* bytes of whole words that it has in common with the next one */
	long before, after;	/* the nearest to the left and right with a smaller shared; -1: none */
};

struct name_fit {
	struct fitted_name *names;
	size_t n, *at;		/* at[i]: where the i-th name is in names */
	int longest;
	const char *gap;	/* replaces omitted words */
	int gap_columns;
};

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static bool is_continuation(char c)
{
	return (c & 0xc0) == 0x80;
}

/* Words such as "fill_", "Functor", "<", "512", "#1a2b3": a word ends before a capital that follows no
 * capital, after an underscore, and around any other character. */
static bool joined(char a, char b)
{
	if (is_continuation(b) || (a == ',' && b == ' '))
		return true;
	if (a == '#')	/* of a short name */
		return in_name(b);
	if (!in_name(a) || !in_name(b))
		return false;
	if (b == '_')
		return true;
	return a != '_' && (!isupper((unsigned char)b) || isupper((unsigned char)a));
}

/* Returns true if a word begins at name[at], or the name ends there. */
static bool word_at(const char *name, size_t at)
{
	return !at || !name[at] || !joined(name[at - 1], name[at]);
}

/* Returns where the word after the one at name[at] begins; at the end of the name, its length. */
static size_t word_next(const char *name, size_t at)
{
	while (name[at] && !word_at(name, ++at))
		;
	return at;
}

/* Returns the columns of bytes of UTF-8, at one column per character. */
static int width(const char *text, size_t len)
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

/* Returns the name without namespaces, the classes that qualify a name, and a return type void. */
static char *stripped(const char *name)
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

static char *escaped(const char *name)
{
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		die(errno, "out of memory");
	escape_text(f, name);
	fclose(f);
	return text;
}

static int by_text(const void *a, const void *b)
{
	const struct fitted_name *p = a, *q = b;
	int order = strcmp(p->text, q->text);

	return order ? order : strcmp(p->name, q->name);
}

static bool is_alike(const struct fitted_name *a, const struct fitted_name *b)
{
	return !strcmp(a->text, b->text) && strcmp(a->name, b->name);
}

/* Names that differ only in their namespaces keep them. */
static void sort(struct name_fit *fit)
{
	struct fitted_name *f = fit->names;
	bool *alike = xcalloc(fit->n + 1, sizeof(*alike));

	qsort(f, fit->n, sizeof(*f), by_text);
	for (size_t i = 0; i + 1 < fit->n; i++)
		if (is_alike(&f[i], &f[i + 1]))
			alike[i] = alike[i + 1] = true;
	for (size_t i = 0; i < fit->n; i++) {
		if (!alike[i] && (!i || strcmp(f[i].name, f[i - 1].name) || !alike[i - 1]))
			continue;
		alike[i] = true;
		free(f[i].text);
		f[i].text = xstrdup(f[i].name);
	}
	free(alike);
	qsort(f, fit->n, sizeof(*f), by_text);
}

static size_t shared(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	while (!word_at(a, n) || !word_at(b, n))
		n--;
	return n;
}

static void set_neighbors(struct name_fit *fit)
{
	struct fitted_name *f = fit->names;
	long n = fit->n;

	for (long i = 0; i < n; i++) {
		f[i].shared = i + 1 < n ? shared(f[i].text, f[i + 1].text) : 0;
		fit->at[f[i].index] = i;
		for (f[i].before = i - 1; f[i].before >= 0 && f[f[i].before].shared >= f[i].shared;)
			f[i].before = f[f[i].before].before;
	}
	for (long i = n - 1; i >= 0; i--)
		for (f[i].after = i + 1 < n ? i + 1 : -1; f[i].after >= 0 && f[f[i].after].shared >= f[i].shared;)
			f[i].after = f[f[i].after].after;
}

static void choose_gap(struct name_fit *fit)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", NULL);

	fit->gap = locale && !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") ? "\u2026" : "..";
	fit->gap_columns = width(fit->gap, strlen(fit->gap));
	if (locale)
		freelocale(locale);
}

struct name_fit *name_fit_new(const char *const *names, size_t n)
{
	struct name_fit *fit = xcalloc(1, sizeof(*fit));

	fit->n = n < NAME_FIT_MAX ? n : NAME_FIT_MAX;
	fit->names = xcalloc(fit->n + 1, sizeof(*fit->names));
	fit->at = xcalloc(fit->n + 1, sizeof(*fit->at));
	for (size_t i = 0; i < fit->n; i++) {
		struct fitted_name *f = &fit->names[i];
		int columns;

		f->index = i;
		f->name = escaped(names[i]);
		f->text = stripped(f->name);
		columns = width(f->name, strlen(f->name));
		fit->longest = columns > fit->longest ? columns : fit->longest;
	}
	choose_gap(fit);
	sort(fit);
	set_neighbors(fit);
	return fit;
}

void name_fit_free(struct name_fit *fit)
{
	for (size_t i = 0; fit && i < fit->n; i++) {
		free(fit->names[i].name);
		free(fit->names[i].text);
	}
	if (fit) {
		free(fit->names);
		free(fit->at);
	}
	free(fit);
}

int name_fit_longest(const struct name_fit *fit)
{
	return fit->longest;
}

/* The words kept of a text, by where they begin, in order. */
struct kept {
	const char *text;
	size_t words[256];
	int n;
};

/* The text between two kept words, or the gap if that is shorter. */
static int between(const struct name_fit *fit, const char *text, size_t from, size_t to, char **out)
{
	int columns = width(text + from, to - from);
	bool whole = columns <= fit->gap_columns;

	if (out && whole)
		*out = mempcpy(*out, text + from, to - from);
	else if (out)
		*out = stpcpy(*out, fit->gap);
	return whole ? columns : fit->gap_columns;
}

/* Returns the columns of the kept words and gaps, and writes them unless out is NULL. */
static int kept_columns(const struct name_fit *fit, const struct kept *k, char *out)
{
	size_t end = 0;
	int columns = 0;

	for (int i = 0; i < k->n; i++) {
		size_t word = k->words[i], next = word_next(k->text, word);

		columns += between(fit, k->text, end, word, out ? &out : NULL);
		columns += width(k->text + word, next - word);
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

/* Keeps the words where the name begins to differ from others, the most similar ones first.  A
 * limit, because hostile names could have very many such places. */
static void keep_different(const struct name_fit *fit, size_t at, struct kept *k, int columns)
{
	const struct fitted_name *f = fit->names;
	long left = (long)at - 1, right = at;

	for (int steps = 0; steps < 256 && (left >= 0 || right >= 0); steps++) {
		bool go_left = right < 0 || (left >= 0 && f[left].shared > f[right].shared);
		long *side = go_left ? &left : &right;

		keep(fit, k, f[*side].shared, columns);
		*side = go_left ? f[left].before : f[right].after;
	}
}

/* Fills the rest; a few words that are too long are skipped. */
static void keep_first(const struct name_fit *fit, struct kept *k, int columns)
{
	int skipped = 0;

	for (size_t w = 0; k->text[w] && skipped < 3; w = word_next(k->text, w))
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
	const struct fitted_name *f = i < fit->n ? &fit->names[fit->at[i]] : NULL;
	struct kept kept = { .text = f ? f->text : NULL };

	if (!f)
		return NULL;
	if (width(f->name, strlen(f->name)) <= columns)
		return xstrdup(f->name);
	if (width(f->text, strlen(f->text)) <= columns)
		return xstrdup(f->text);
	keep(fit, &kept, 0, columns);
	keep_different(fit, fit->at[i], &kept, columns);
	keep_first(fit, &kept, columns);
	return kept_text(fit, &kept);
}
