/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The parameters of CUDA functions in bpftrace's language. */
#ifndef BT_VALUE_H
#define BT_VALUE_H
#include <stdio.h>
#include "api/cuda_protos.h"
#include "cudabt/bt_parse.h"

enum { BT_SAVED = 48, BT_WORD_SIZE = 48 };

/* Where a probe finds its arguments. */
struct bt_frame {
	bool ret;		/* at the return: in the tuple $cudabt, saved at entry */
	unsigned char saved[BT_SAVED];	/* their places, in the tuple's order from .1 on */
	int nsaved;
};

enum bt_how {
	BT_VALUE,
	BT_TARGET = 1,	/* what it points to: *args.NAME */
	BT_ADDRESS = 2,	/* within str(): a string's address */
};

enum bt_outcome {
	BT_FAILED,
	BT_LACKS,		/* the function has no such argument; *e says which */
	BT_DONE,
};

/* Writes the word at a place (see struct cuda_param), at most BT_WORD_SIZE bytes; at the return,
 * marks it to be saved.  Returns word. */
const char *bt_word(struct bt_frame *f, unsigned place, char *word, size_t size);

/* Writes the return value. */
bool bt_result(FILE *out, const struct cuda_value *v, enum bt_how how, const char *at,
	       const char **type, struct bt_error *e);

/* Return true if the word looks like an enumerator: cudaMemcpyHostToDevice, CU_..., CUDA_... */
bool bt_is_constant(const struct bt_token *t);

/* Writes its number.  Returns false and suggests the nearest names if there is no such name. */
bool bt_constant(FILE *out, const struct bt_token *t, struct bt_error *e);

/* Writes the value of args.NAME.  *p is just past args, and is moved past the name and the members
 * that follow it.  *type is as for bt_value(). */
enum bt_outcome bt_argument(FILE *out, struct bt_frame *f, const struct cuda_proto *proto, enum bt_how how,
			    const char **p, const char *end, const char **type, struct bt_error *e);

/* Return true if the star is followed by args.NAME of a pointer; sets *args to the token args. */
bool bt_is_target(const struct cuda_proto *proto, const struct bt_token *star, const char *end,
		  struct bt_token *args);

#endif
