/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The block or predicate of a probe, made bpftrace's own language for one function. */
#ifndef BT_BODY_H
#define BT_BODY_H
#include "cudabt/bt_args.h"
#include "cudabt/bt_tables.h"

struct bt_body {
	const struct cuda_proto *proto;	/* whose probe it is; NULL: none of CUDA's */
	struct bt_tables *tables;
	struct bt_frame frame;	/* frame.ret is to be set */
	bool saves;		/* becomes true if it needs what is saved at entry */
	const char *type;	/* becomes the type of the last value that is an enum */
	int depth;
};

/* Writes what stands between p and end; what it does not know as it is. */
enum bt_outcome bt_body(struct bt_body *b, const char *p, const char *end, FILE *out,
			struct bt_error *e);

#endif
