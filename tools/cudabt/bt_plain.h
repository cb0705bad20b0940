/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A part's plain bpftrace probes. */
#ifndef BT_PLAIN_H
#define BT_PLAIN_H
#include "cudabt/bt_parse.h"
#include "cudabt/bt_writer.h"

/* Writes them and their block to BT_MAIN.  What runs at BEGIN and at END, of which a script can
 * have only one each, goes to BT_AT_BEGIN and BT_AT_END.  Returns false with the script's error set
 * on failure. */
bool bt_plain(struct bt_writer *w, const struct bt_part *part);

#endif
