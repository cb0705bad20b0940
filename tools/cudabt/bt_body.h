/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Translates a probe's block or predicate to plain bpftrace for one function. */
#ifndef CUDABT_BT_BODY_H
#define CUDABT_BT_BODY_H
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

enum bt_outcome {
	BT_FAILED,
	BT_NO_ARGUMENT,		/* of the function, with *e set */
	BT_DONE,
};

/* Maps in which the script looks up names. */
struct bt_tables {		/* starts zeroed */
	const struct cuda_enum **enums;	/* nenums of them: @cudabt_TYPE[value] */
	int nenums;
	bool *functions;	/* by id: @cudabt_func[id]; NULL: none */
};

struct bt_body {
	const struct cuda_proto *proto;	/* the probed function; NULL: not a CUDA probe */
	struct bt_tables *tables;
	struct bt_frame frame;	/* the caller sets frame.ret */
	bool saves;		/* set if values must be saved at the entry */
	const char *type;	/* set to the type of the last enum value */
	int depth;
};

/* Writes the translation of the text between p and end. */
enum bt_outcome bt_body(struct bt_body *b, const char *p, const char *end, FILE *out,
			struct bt_error *e);

/* Writes statements for BEGIN that fill the maps, and for END that clear them so that they are not
 * printed.  wanted, by id: the functions that the program names. */
void bt_tables_write(const struct bt_tables *t, const bool *wanted, FILE *fill, FILE *clear);

void bt_tables_free(struct bt_tables *t);

/* Writes the name of the word at a place (see struct cuda_param), at most BT_WORD_SIZE bytes; at the
 * return, adds it to the saved ones.  Returns word. */
const char *bt_word(struct bt_frame *f, unsigned place, char *word, size_t size);

#endif
