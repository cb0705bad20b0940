/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The probes of a part that are CUDA's. */
#ifndef BT_CUDA_H
#define BT_CUDA_H
#include "cudabt/bt_parse.h"
#include "cudabt/bt_writer.h"

/* Looks its patterns up: notes the functions that they mean, which the script's files are to be
 * searched for.  False with the script's error set if one means none; a note if no file has any. */
bool bt_cuda_find(struct bt_writer *w, const struct bt_part *part);

/* Writes the part's blocks at the entries (BT_CALL), or at the returns (BT_RETURN), of the functions
 * that it means.  False with the script's error set. */
bool bt_cuda(struct bt_writer *w, const struct bt_part *part, enum bt_call call);

#endif
