/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "cudabt/bt_lex.h"

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

bool bt_next(const char *p, const char *end, struct bt_token *t, struct bt_error *e)
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
		t->kind = BT_WORD;
		q = after_name(q, end);
	} else {
		t->kind = BT_SIGN;
		q += *p == '-' && q < end && *q == '>';
	}
	t->len = q - p;
	return true;
}

bool bt_next_word(const char *p, const char *end, struct bt_token *t, struct bt_error *e)
{
	do {
		if (!bt_next(p, end, t, e))
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
		if (!bt_next(p, end, &t, e))
			return NULL;
		if (t.kind == BT_END)
			break;
		if (t.kind != BT_SIGN)
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
