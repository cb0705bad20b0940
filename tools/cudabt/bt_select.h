/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which functions an attach point matches. */
#ifndef BT_SELECT_H
#define BT_SELECT_H
#include "cudabt/bt_parse.h"
#include "api/cuda_protos.h"

/* Return true if the attach point matches the function.  bpftrace's own points match none. */
bool bt_select(const struct bt_item *item, const struct cuda_proto *p);

/* Call if it matches none: records the error with the most similar names, and returns false. */
bool bt_select_nothing(const struct bt_item *item, struct bt_error *e);

#endif
