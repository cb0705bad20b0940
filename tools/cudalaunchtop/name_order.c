/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "base/escape.h"
#include "cudalaunchtop/name_order.h"
#include "cudalaunchtop/name_words.h"

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
	const struct fitted *p = a, *q = b;
	int order = strcmp(p->text, q->text);

	return order ? order : strcmp(p->name, q->name);
}

static bool is_alike(const struct fitted *a, const struct fitted *b)
{
	return !strcmp(a->text, b->text) && strcmp(a->name, b->name);
}

/* Names that only their namespaces distinguish keep them. */
static void sort(struct name_fit *fit)
{
	struct fitted *f = fit->names;
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
	while (!name_word_at(a, n) || !name_word_at(b, n))
		n--;
	return n;
}

static void link_up(struct name_fit *fit)
{
	struct fitted *f = fit->names;
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
	fit->gap_columns = name_columns(fit->gap, strlen(fit->gap));
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
		struct fitted *f = &fit->names[i];
		int columns;

		f->index = i;
		f->name = escaped(names[i]);
		f->text = name_stripped(f->name);
		columns = name_columns(f->name, strlen(f->name));
		fit->longest = columns > fit->longest ? columns : fit->longest;
	}
	choose_gap(fit);
	sort(fit);
	link_up(fit);
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
