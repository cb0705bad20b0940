/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The parts of a bpftrace program: probes, and what lies between them. */
#ifndef BT_PARSE_H
#define BT_PARSE_H
#include "cudabt/bt_lex.h"

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

#endif
