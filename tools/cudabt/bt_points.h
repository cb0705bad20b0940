/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The attach points of a block: its functions, in each file that has them. */
#ifndef BT_POINTS_H
#define BT_POINTS_H
#include "cudabt/bt_block.h"
#include "cudabt/bt_script.h"

/* Counts in s->blocks the entry and return blocks that this is for the function. */
void bt_points_count(const struct bt_block *b, const struct bt_script *s, int id);

/* Writes the block for its functions that files have; returns the number of attach points. */
int bt_points_print(FILE *f, const struct bt_block *b, const struct bt_script *s);

#endif
