/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which functions an attach point means. */
#ifndef BT_SELECT_H
#define BT_SELECT_H
#include "cudabt/bt_parse.h"
#include "api/cuda_protos.h"

/* Is the function meant by this attach point?  By those of bpftrace's own none is. */
bool bt_select(const struct bt_item *item, const struct cuda_proto *p);

/* None is: notes that, with the names that are most like it, and returns false. */
bool bt_select_nothing(const struct bt_item *item, struct bt_error *e);

#endif
