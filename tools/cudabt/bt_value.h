/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The parameters of CUDA functions in bpftrace's language. */
#ifndef BT_VALUE_H
#define BT_VALUE_H
#include <stdio.h>
#include "cudabt/bt_lex.h"
#include "api/cuda_protos.h"

enum { BT_SAVED = 48, BT_WORD_SIZE = 48 };

/* Where a probe finds its arguments. */
struct bt_frame {
	bool ret;		/* at the return: in the tuple $cudabt, saved at entry */
	unsigned char saved[BT_SAVED];	/* their places, in the tuple's order from .1 on */
	int nsaved;
};

/* Writes the word at a place (see struct cuda_param), at most BT_WORD_SIZE bytes; at the return,
 * marks it to be saved.  Returns word. */
const char *bt_word(struct bt_frame *f, unsigned place, char *word, size_t size);

enum bt_how {
	BT_VALUE,
	BT_TARGET = 1,	/* what it points to: *args.NAME */
	BT_ADDRESS = 2,	/* within str(): a string's address */
};

/* Writes the value of args.NAME, where *p is just past NAME.  Also takes the members that follow,
 * .x or ->width, and moves *p past them.  Sets *type if the value is an enum.  Returns false if it
 * has no value in bpftrace. */
bool bt_value(FILE *out, struct bt_frame *f, const struct cuda_param *param, enum bt_how how,
	      const char **p, const char *end, const char **type, struct bt_error *e);

/* Writes the return value. */
bool bt_result(FILE *out, const struct cuda_value *v, enum bt_how how, const char *at,
	       const char **type, struct bt_error *e);

#endif
