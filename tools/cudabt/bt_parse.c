/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "cudabt/bt_parse.h"


bool bt_fail(struct bt_error *e, const char *at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->what, sizeof(e->what), fmt, ap);
	va_end(ap);
	e->at = at;
	return false;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static const char *after_name(const char *p, const char *end)
{
	while (p < end && is_name(*p))
		p++;
	return p;
}

/* Returns NULL if the comment is unterminated. */
static const char *after_comment(const char *p, const char *end)
{
	const char *close;

	if (p[1] == '/') {
		close = memchr(p, '\n', end - p);
		return close ? close : end;
	}
	close = memmem(p + 2, end - p - 2, "*/", 2);
	return close ? close + 2 : NULL;
}

/* bpftrace's strings end at the end of the line; returns NULL if this one is unterminated. */
static const char *after_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '\n'; p++) {
		if (*p == '"')
			return p + 1;
		if (*p == '\\' && p + 1 < end)
			p++;
	}
	return NULL;
}

bool bt_lex(const char *p, const char *end, struct bt_token *t, struct bt_error *e)
{
	const char *q = p + 1;

	*t = (struct bt_token){ BT_END, p, 0 };
	if (p >= end)
		return true;
	if (isspace((unsigned char)*p)) {
		t->kind = BT_SPACE;
		while (q < end && isspace((unsigned char)*q))
			q++;
	} else if (*p == '/' && end - p > 1 && (p[1] == '/' || p[1] == '*')) {
		t->kind = BT_SPACE;
		q = after_comment(p, end);
		if (!q)
			return bt_fail(e, p, "unterminated comment");
	} else if (*p == '"') {
		t->kind = BT_STRING;
		q = after_string(p, end);
		if (!q)
			return bt_fail(e, p, "unterminated string");
	} else if (*p == '$' || *p == '@') {
		t->kind = BT_VARIABLE;
		q = after_name(q, end);
	} else if (isdigit((unsigned char)*p)) {
		t->kind = BT_NUMBER;
		q = after_name(q, end);
	} else if (is_name(*p)) {
		t->kind = BT_IDENT;
		q = after_name(q, end);
	} else {
		t->kind = BT_PUNCT;
		q += *p == '-' && q < end && *q == '>';
	}
	t->len = q - p;
	return true;
}

bool bt_lex_nonspace(const char *p, const char *end, struct bt_token *t, struct bt_error *e)
{
	do {
		if (!bt_lex(p, end, t, e))
			return false;
		p = t->s + t->len;
	} while (t->kind == BT_SPACE);
	return true;
}

const char *bt_closing(const char *open, const char *end, struct bt_error *e)
{
	const char close = *open == '(' ? ')' : *open == '[' ? ']' : '}';
	struct bt_token t;
	int depth = 0;

	for (const char *p = open; ; p = t.s + t.len) {
		if (!bt_lex(p, end, &t, e))
			return NULL;
		if (t.kind == BT_END)
			break;
		if (t.kind != BT_PUNCT)
			continue;
		depth += *t.s == *open;
		depth -= *t.s == close;
		if (!depth)
			return t.s;
	}
	bt_fail(e, open, "unmatched '%c'", *open);
	return NULL;
}

bool bt_is(const struct bt_token *t, const char *text)
{
	return t->len == strlen(text) && !memcmp(t->s, text, t->len);
}

/* A preprocessor line ends after its continuation lines. */
static const char *after_line(const char *p, const char *end)
{
	const char *newline;

	do {
		newline = memchr(p, '\n', end - p);
		if (!newline)
			return end;
		p = newline + 1;
	} while (newline[-1] == '\\' && p < end);
	return p;
}

/* struct x { ... }; */
static const char *after_type(const char *p, const char *end, struct bt_error *e)
{
	struct bt_token t;
	const char *close;

	for (;; p = t.s + t.len) {
		if (!bt_lex(p, end, &t, e))
			return NULL;
		if (t.kind == BT_END || bt_is(&t, ";"))
			return t.s + t.len;
		if (bt_is(&t, "{"))
			break;
	}
	close = bt_closing(t.s, end, e);
	if (!close || !bt_lex_nonspace(close + 1, end, &t, e))
		return NULL;
	return bt_is(&t, ";") ? t.s + 1 : close + 1;
}

/* In an attach point, the slashes of a path after ':' do not start a predicate. */
static const char *after_path(const char *p, const char *end)
{
	static const char chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-./#+*\\?";

	while (p < end && *p && strchr(chars, *p))
		p++;
	return p;
}

static void add_point(struct bt_part *part, enum bt_call call, const char *s, const char *end)
{
	if (!(part->n & (part->n - 1)))	/* room for 1, 2, 4 … */
		part->points = xrealloc(part->points, 2 * part->n ?: 1, sizeof(*part->points));
	part->points[part->n++] = (struct bt_point){ call, s, end - s };
}

/* Parses the PATTERN of cuda:PATTERN at *p, which is moved past it. */
static bool cuda_point(struct bt_part *part, const char **p, const char *end, enum bt_call call,
		      struct bt_error *e)
{
	const char *s = *p, *q = s;
	struct bt_token t;

	while (q < end && (*q == '_' || *q == '*' || *q == '?' || (*q >= '0' && *q <= '9') ||
			   (*q >= 'a' && *q <= 'z') || (*q >= 'A' && *q <= 'Z')))
		q++;
	if (q == s)
		return bt_fail(e, s, "expected a function name such as cudaMalloc or *Memcpy*");
	add_point(part, call, s, q);
	if (!bt_lex_nonspace(q, end, &t, e))
		return false;
	if (!bt_is(&t, ",") && !bt_is(&t, "/") && !bt_is(&t, "{"))
		return bt_fail(e, t.s, "expected ',', '{' or a /predicate/ after '%.*s'",
			       (int)(q - s < 60 ? q - s : 60), s);
	*p = t.s;
	return true;
}

/* Parses an attach point at *p, which is moved to ',', '/', '{' or the end. */
static bool point(struct bt_part *part, const char **p, const char *end, struct bt_error *e)
{
	struct bt_token t;
	const char *s, *last;

	if (!bt_lex_nonspace(*p, end, &t, e))
		return false;
	s = last = t.s;
	*p = t.s + t.len;
	if (*p < end && **p == ':' && (bt_is(&t, "cuda") || bt_is(&t, "cudaret"))) {
		++*p;
		return cuda_point(part, p, end, t.len == 4 ? BT_CALL : BT_RETURN, e);
	}
	for (;; *p = t.s + t.len) {
		if (t.kind == BT_END)
			return bt_fail(e, t.s, "unexpected end of program: expected '{'");
		if (bt_is(&t, ",") || bt_is(&t, "/") || bt_is(&t, "{"))
			break;
		if (bt_is(&t, "}"))
			return bt_fail(e, t.s, "unmatched '}'");
		if (bt_is(&t, ":"))
			t.len = after_path(t.s + 1, end) - t.s;
		if (t.kind != BT_SPACE)
			last = t.s + t.len;
		if (!bt_lex(t.s + t.len, end, &t, e))
			return false;
	}
	if (last == s)
		return bt_fail(e, t.s, "expected a probe such as cuda:cudaMalloc");
	add_point(part, BT_PLAIN, s, last);
	*p = t.s;
	return true;
}

/* As in bpftrace, a predicate ends at the first slash followed by a brace. */
static bool predicate(struct bt_part *part, const char **p, const char *end, struct bt_error *e)
{
	const char *start = *p;
	struct bt_token t, next;

	part->pred = start + 1;
	for (*p = part->pred; ; *p = t.s + t.len) {
		if (!bt_lex(*p, end, &t, e))
			return false;
		if (t.kind == BT_END)
			return bt_fail(e, start, "unterminated predicate: expected '/' followed by '{'");
		if (!bt_is(&t, "/"))
			continue;
		if (!bt_lex_nonspace(t.s + 1, end, &next, e))
			return false;
		if (bt_is(&next, "{"))
			break;
	}
	part->pred_end = t.s;
	*p = next.s;
	return true;
}

static bool probe(struct bt_part *part, const char *p, const char *end, struct bt_error *e)
{
	for (;; p++) {
		if (!point(part, &p, end, e))
			return false;
		if (*p != ',')
			break;
	}
	if (*p == '/' && !predicate(part, &p, end, e))
		return false;
	part->body = p + 1;
	part->body_end = bt_closing(p, end, e);
	if (!part->body_end)
		return false;
	part->end = part->body_end + 1;
	return true;
}

bool bt_parse(const char *p, const char *end, struct bt_part *part, struct bt_error *e)
{
	struct bt_token t;

	*part = (struct bt_part){ .start = p };
	if (!bt_lex(p, end, &t, e))
		return false;
	if (t.kind == BT_SPACE || bt_is(&t, ";"))
		part->end = t.s + t.len;
	else if (bt_is(&t, "#"))
		part->end = after_line(p, end);
	else if (bt_is(&t, "struct") || bt_is(&t, "union") || bt_is(&t, "enum"))
		part->end = after_type(p, end, e);
	else
		probe(part, p, end, e);
	if (part->end)
		return true;
	free(part->points);
	part->points = NULL;
	return false;
}
