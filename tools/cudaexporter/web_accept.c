/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include "cudaexporter/web_accept.h"

/* One element of a list: its name, its parameters up to the comma, its weight in thousandths. */
struct element {
	const char *name, *end;
	size_t length;
	int weight;
};

static const char *skip(const char *s, const char *these)
{
	return s + strspn(s, these);
}

/* 0 to 1 with at most three digits after the point; anything else is 0. */
static int weight_of(const char *s, const char *end)
{
	int w, digit = 100;

	if (s == end || (*s != '0' && *s != '1'))
		return 0;
	w = (*s++ - '0') * 1000;
	if (s < end && *s == '.')
		for (s++; s < end && *s >= '0' && *s <= '9' && digit; s++, digit /= 10)
			w += (*s - '0') * digit;
	return s < end && !strchr(" \t;", *s) ? 0 : w > 1000 ? 1000 : w;
}

/* The value of a parameter of e, up to *end; NULL: it has none. */
static const char *parameter(const struct element *e, const char *name, const char **end)
{
	const char *s = e->name + e->length;

	while ((s = memchr(s, ';', e->end - s))) {
		size_t n;

		s = skip(s + 1, " \t");
		n = strcspn(s, "=;, \t");
		*end = s + strcspn(s, ";,");
		if (n == strlen(name) && !strncasecmp(s, name, n) && s[n] == '=') {
			s += n + 1;
			return s < *end && *s == '"' ? s + 1 : s;
		}
		s = *end;
	}
	return NULL;
}

/* Reads the next element of the list at *s.  Returns false at its end. */
static bool next(const char **s, struct element *e)
{
	const char *q, *end;

	e->name = skip(*s, " \t,");
	if (!*e->name)
		return false;
	e->length = strcspn(e->name, ";, \t");
	e->end = e->name + strcspn(e->name, ",");
	q = parameter(e, "q", &end);
	e->weight = q ? weight_of(q, end) : 1000;
	*s = e->end;
	return true;
}

static bool is(const struct element *e, const char *name)
{
	return e->length == strlen(name) && !strncasecmp(e->name, name, e->length);
}

static bool begins(const char *s, const char *end, const char *with)
{
	size_t n = strlen(with);

	return (size_t)(end - s) >= n && !strncmp(s, with, n);
}

/* Return true if e names OpenMetrics, in a version that is written: 1.0 or none. */
static bool is_openmetrics(const struct element *e)
{
	const char *version, *end;

	if (!is(e, "application/openmetrics-text"))
		return false;
	version = parameter(e, "version", &end);
	return !version || begins(version, end, "1.0.0");
}

/* Return true if e names the text format: 0.0.4 or none. */
static bool is_text(const struct element *e)
{
	const char *version, *end;

	if (is(e, "*/*") || is(e, "text/*"))
		return true;
	if (!is(e, "text/plain"))
		return false;
	version = parameter(e, "version", &end);
	return !version || begins(version, end, "0.0.4");
}

enum web_format web_accept_format(const char *accept)
{
	enum web_format best = WEB_TEXT;
	struct element e;
	int weight = 0;

	for (const char *s = accept ? accept : ""; next(&s, &e); )
		if (e.weight > weight && (is_openmetrics(&e) || is_text(&e))) {
			weight = e.weight;
			best = is_openmetrics(&e) ? WEB_OPENMETRICS : WEB_TEXT;
		}
	return best;
}

bool web_accept_gzip(const char *encodings)
{
	int gzip = -1, any = 0, identity = 0;
	struct element e;

	for (const char *s = encodings ? encodings : ""; next(&s, &e); ) {
		if (is(&e, "gzip") || is(&e, "x-gzip"))
			gzip = e.weight;
		else if (is(&e, "*"))
			any = e.weight;
		else if (is(&e, "identity"))
			identity = e.weight;
	}
	if (gzip < 0)
		gzip = any;
	return gzip && gzip >= identity;
}
