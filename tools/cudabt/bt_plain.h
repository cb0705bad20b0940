/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The probes of a part that are bpftrace's own. */
#ifndef BT_PLAIN_H
#define BT_PLAIN_H
#include "cudabt/bt_parse.h"
#include "cudabt/bt_writer.h"

/* Writes them with their block to BT_MAIN, but what is done at BEGIN and at END, of which a script
 * can have only one each, to BT_AT_BEGIN and BT_AT_END.  False with the script's error set. */
bool bt_plain(struct bt_writer *w, const struct bt_part *part);

#endif
