/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The parts of a bpftrace program: probes, and what lies between them. */
#ifndef BT_PARSE_H
#define BT_PARSE_H
#include <stdbool.h>
#include <stddef.h>

enum bt_kind {
	BT_END,
	BT_SPACE,	/* white space, or a comment */
	BT_WORD,	/* an identifier */
	BT_NUMBER,
	BT_STRING,	/* with its quotes */
	BT_VARIABLE,	/* $x, @x, @ */
	BT_SIGN,	/* one character, or "->" */
};

struct bt_token {
	enum bt_kind kind;
	const char *s;		/* in the program's text */
	size_t len;
};

struct bt_error {
	const char *at;		/* position in the text; NULL = no error */
	char what[400];
};

/* An attach point of a probe. */
struct bt_item {
	enum bt_call {
		BT_PLAIN,	/* bpftrace's own */
		BT_CALL,	/* cuda:PATTERN */
		BT_RETURN,	/* cudaret:PATTERN */
	} call;
	const char *s;		/* the attach point, or the pattern of a CUDA one */
	size_t len;
};

struct bt_part {
	const char *start, *end;
	struct bt_item *items;	/* the caller frees it */
	int n;			/* 0: not a probe, but spaces, a preprocessor line or a type */
	const char *pred, *pred_end;	/* between the slashes; NULL = none */
	const char *body, *body_end;	/* between the braces */
};

/* Parses the part of the program at p < end.  On an error returns false and frees part->items. */
bool bt_parse(const char *p, const char *end, struct bt_part *part, struct bt_error *e);

/* Records the error and returns false. */
bool bt_fail(struct bt_error *e, const char *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Reads the token at p, before end.  Returns false if a string or comment is unterminated. */
bool bt_next(const char *p, const char *end, struct bt_token *t, struct bt_error *e);

/* The same, skipping spaces: *t is the first token of another kind. */
bool bt_next_word(const char *p, const char *end, struct bt_token *t, struct bt_error *e);

/* Returns the bracket that closes the one at open ("(", "[" or "{"), or NULL if there is none. */
const char *bt_closing(const char *open, const char *end, struct bt_error *e);

/* Return true if the token is this text. */
bool bt_is(const struct bt_token *t, const char *text);

#endif
