/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The arguments of a call, args.NAME, in a function's block. */
#ifndef BT_ARGS_H
#define BT_ARGS_H
#include "cudabt/bt_value.h"

enum bt_outcome {
	BT_FAILED,
	BT_LACKS,		/* the function has no such argument; *e says which */
	BT_DONE,
};

/* Writes the value of args.NAME.  *p is just past args, and is moved past the name and the members
 * that follow it.  *type is as for bt_value(). */
enum bt_outcome bt_argument(FILE *out, struct bt_frame *f, const struct cuda_proto *proto, enum bt_how how,
			    const char **p, const char *end, const char **type, struct bt_error *e);

/* Return true if the star is followed by args.NAME of a pointer; sets *args to the token args. */
bool bt_is_target(const struct cuda_proto *proto, const struct bt_token *star, const char *end,
		  struct bt_token *args);

#endif
