/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A part's CUDA probes. */
#ifndef BT_CUDA_H
#define BT_CUDA_H
#include "cudabt/bt_parse.h"
#include "cudabt/bt_writer.h"

/* Looks up the part's patterns and records the functions they match, for which the script's files
 * will be searched.  Returns false with the script's error set if a pattern matches none; adds a
 * note if no file has any of them. */
bool bt_cuda_find(struct bt_writer *w, const struct bt_part *part);

/* Writes the part's blocks for the entries (BT_CALL) or returns (BT_RETURN) of the functions that
 * it matches.  Returns false with the script's error set on failure. */
bool bt_cuda(struct bt_writer *w, const struct bt_part *part, enum bt_call call);

#endif
