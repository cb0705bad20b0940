/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The tokens of a bpftrace program, as bpftrace 0.17 reads them (its src/lexer.l), and its parts: probes
 * and the text between them. */
#ifndef CUDABT_BT_PARSE_H
#define CUDABT_BT_PARSE_H
#include <stdbool.h>
#include <stddef.h>

enum bt_token_kind {
	BT_END,
	BT_SPACE,	/* or a comment */
	BT_IDENT,
	BT_NUMBER,
	BT_STRING,	/* with its quotes */
	BT_VARIABLE,	/* $x, @x, @ */
	BT_PUNCT,	/* one character, or "->" */
};

struct bt_token {
	enum bt_token_kind kind;
	const char *s;		/* in the program's text */
	size_t len;
};

struct bt_error {
	const char *at;		/* position in the text; NULL = no error */
	char what[400];
};

/* Sets *e and returns false. */
bool bt_fail(struct bt_error *e, const char *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Reads the token at p, before end; false if a string or comment is unterminated. */
bool bt_lex(const char *p, const char *end, struct bt_token *t, struct bt_error *e);

/* The same, skipping spaces. */
bool bt_lex_nonspace(const char *p, const char *end, struct bt_token *t, struct bt_error *e);

/* Returns the bracket that closes the one at open ("(", "[" or "{"), or NULL if there is none. */
const char *bt_closing(const char *open, const char *end, struct bt_error *e);

/* Return true if the token is this text. */
bool bt_is(const struct bt_token *t, const char *text);

/* An attach point. */
struct bt_point {
	enum bt_call {
		BT_PLAIN,	/* bpftrace's own */
		BT_CALL,	/* cuda:PATTERN */
		BT_RETURN,	/* cudaret:PATTERN */
	} call;
	const char *s;		/* the pattern of a CUDA point, else all of it */
	size_t len;
};

struct bt_part {
	const char *start, *end;
	struct bt_point *points;	/* the caller frees it */
	int n;			/* 0: not a probe, but spaces, a preprocessor line or a type */
	const char *pred, *pred_end;	/* between the slashes; NULL = none */
	const char *body, *body_end;	/* between the braces */
};

/* Parses the part of the program at p < end.  On an error returns false and frees part->points. */
bool bt_parse(const char *p, const char *end, struct bt_part *part, struct bt_error *e);

#endif
