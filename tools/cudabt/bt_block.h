/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A block of bpftrace for CUDA functions that differ in nothing that it says. */
#ifndef BT_BLOCK_H
#define BT_BLOCK_H
#include "cudabt/bt_body.h"
#include "cudabt/bt_parse.h"
#include "cudabt/bt_writer.h"

struct bt_block {
	bool ret;
	char *text;		/* predicate and block */
	char *map;		/* of one at the return: where its arguments were saved, or NULL … */
	char *entry;		/* … by this predicate and block at the entry */
	int *ids, n;		/* of functions */
};

/* Makes the part's block for one function; w->probes is the number of the program's probe.  What it
 * holds is to be freed by bt_block_free(), whatever came of it. */
enum bt_outcome bt_block_make(struct bt_block *b, struct bt_writer *w, const struct bt_part *part,
			      const struct cuda_proto *proto, bool ret);

/* Puts a function to the one of the n blocks that is the same as its own, or adds that, whose
 * texts then go over to the array. */
void bt_block_add(struct bt_block **blocks, int *n, struct bt_block *own, int id);

void bt_block_free(struct bt_block *b);

#endif
