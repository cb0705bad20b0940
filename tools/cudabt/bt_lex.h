/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The words of a bpftrace program, as bpftrace 0.17 reads them (its src/lexer.l), as far as one
 * must know them to find probes, blocks and names. */
#ifndef BT_LEX_H
#define BT_LEX_H
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
	const char *at;		/* where in the text; NULL = no error */
	char what[400];
};

/* Notes what is wrong, and returns false. */
bool bt_fail(struct bt_error *e, const char *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The token at p, before end; false if a string or comment has no end. */
bool bt_next(const char *p, const char *end, struct bt_token *t, struct bt_error *e);

/* The same without spaces: *t is the first token that is none. */
bool bt_next_word(const char *p, const char *end, struct bt_token *t, struct bt_error *e);

/* Where the bracket at open ("(", "[" or "{") is closed; NULL if it is not. */
const char *bt_closing(const char *open, const char *end, struct bt_error *e);

/* Is the token this text? */
bool bt_is(const struct bt_token *t, const char *text);

#endif
