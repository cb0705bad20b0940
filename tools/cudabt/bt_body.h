/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Translates a probe's block or predicate to plain bpftrace for one function. */
#ifndef BT_BODY_H
#define BT_BODY_H
#include "cudabt/bt_args.h"
#include "cudabt/bt_tables.h"

struct bt_body {
	const struct cuda_proto *proto;	/* the function probed; NULL: not a CUDA probe */
	struct bt_tables *tables;
	struct bt_frame frame;	/* the caller sets frame.ret */
	bool saves;		/* set if it needs values saved at entry */
	const char *type;	/* set to the type of the last enum value */
	int depth;
};

/* Writes the text between p and end, copying what it does not recognize. */
enum bt_outcome bt_body(struct bt_body *b, const char *p, const char *end, FILE *out,
			struct bt_error *e);

#endif
