/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A bpftrace block, shared by the CUDA functions for which its text is the same. */
#ifndef BT_BLOCK_H
#define BT_BLOCK_H
#include "cudabt/bt_body.h"
#include "cudabt/bt_parse.h"
#include "cudabt/bt_writer.h"

struct bt_block {
	bool ret;
	char *text;		/* predicate and block */
	char *map;		/* for a return block: the map of the saved arguments, or NULL … */
	char *entry;		/* … and the predicate and block that save them at the entry */
	int *ids, n;		/* ids of its n functions */
};

/* Makes the part's block for one function; w->probes is the number of the program's probe.  Free
 * the block with bt_block_free(), whatever the outcome. */
enum bt_outcome bt_block_make(struct bt_block *b, struct bt_writer *w, const struct bt_part *part,
			      const struct cuda_proto *proto, bool ret);

/* Adds a function to whichever of the n blocks is identical to its own.  If none is, appends its
 * own, whose texts then belong to the array. */
void bt_block_add(struct bt_block **blocks, int *n, struct bt_block *own, int id);

void bt_block_free(struct bt_block *b);

#endif
