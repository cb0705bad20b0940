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
	unsigned char saved[BT_SAVED];	/* their places, in the order of the tuple from .1 on */
	int nsaved;
};

enum bt_how {
	BT_VALUE,
	BT_DEREF = 1,	/* *args.NAME */
	BT_ADDRESS = 2,	/* within str(): a string's address */
};

enum bt_outcome {
	BT_FAILED,
	BT_NO_ARGUMENT,		/* of the function, with *e set */
	BT_DONE,
};

/* Writes the name of the word at a place (see struct cuda_param), at most BT_WORD_SIZE bytes; at the
 * return, adds it to the saved ones.  Returns word. */
const char *bt_word(struct bt_frame *f, unsigned place, char *word, size_t size);

/* Return true if the word looks like an enumerator: cudaMemcpyHostToDevice, CU_..., CUDA_... */
bool bt_is_constant(const struct bt_token *t);

/* Writes the enumerator's number; false with *e set, with the nearest names, if there is none. */
bool bt_constant(FILE *out, const struct bt_token *t, struct bt_error *e);

/* Writes the value of args.NAME and its members, .x or ->width; *p, just past args, is moved past them.
 * Sets *type if the value is an enum. */
enum bt_outcome bt_argument(FILE *out, struct bt_frame *f, const struct cuda_proto *proto, enum bt_how how,
			    const char **p, const char *end, const char **type, struct bt_error *e);

/* Return true if the star dereferences args.NAME, a pointer; sets *args to the token args. */
bool bt_is_deref(const struct cuda_proto *proto, const struct bt_token *star, const char *end,
		  struct bt_token *args);

/* Writes the return value; the rest is as for bt_argument(). */
bool bt_result(FILE *out, const struct cuda_value *v, enum bt_how how, const char *at,
	       const char **type, struct bt_error *e);

#endif
