/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Translates a probe's block or predicate to plain bpftrace for one function. */
#ifndef BT_BODY_H
#define BT_BODY_H
#include <stdio.h>
#include "api/cuda_protos.h"
#include "cudabt/bt_value.h"

struct bt_tables {		/* all zero: none */
	const struct cuda_enum **enums;	/* nenums of them: @cudabt_TYPE[value] */
	int nenums;
	bool *functions;	/* by id: @cudabt_func[id]; NULL: none */
};

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

/* Writes what fills the maps in use before the first event, and what clears them so that they are
 * not printed at the end.  wanted, by id: the functions that the program names. */
void bt_tables_write(const struct bt_tables *t, const bool *wanted, FILE *fill, FILE *clear);

void bt_tables_free(struct bt_tables *t);

#endif
