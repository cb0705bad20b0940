/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The parts of a bpftrace program: probes, and what stands between them. */
#ifndef BT_PARSE_H
#define BT_PARSE_H
#include "cudabt/bt_lex.h"

/* One of a probe's attach points. */
struct bt_item {
	enum bt_call {
		BT_PLAIN,	/* bpftrace's own */
		BT_CALL,	/* cuda:PATTERN */
		BT_RETURN,	/* cudaret:PATTERN */
	} call;
	const char *s;		/* the attach point; of CUDA's the pattern */
	size_t len;
};

struct bt_part {
	const char *start, *end;
	struct bt_item *items;	/* the caller's to free() */
	int n;			/* 0: spaces, a preprocessor line or a type, not a probe */
	const char *pred, *pred_end;	/* between the slashes; NULL = none */
	const char *body, *body_end;	/* between the braces */
};

/* The part of the program at p < end.  False if it is none, with part->items freed. */
bool bt_parse(const char *p, const char *end, struct bt_part *part, struct bt_error *e);

#endif
