/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The probes of a part that are bpftrace's own. */
#ifndef BT_PLAIN_H
#define BT_PLAIN_H
#include "cudabt/bt_parse.h"
#include "cudabt/bt_tables.h"

/* Writes them with their block to out, but what is done at BEGIN and at END, of which a script can
 * have only one each, to begin and end.  False with *e set. */
bool bt_plain(const struct bt_part *part, struct bt_tables *tables, FILE *out, FILE *begin, FILE *end,
	      struct bt_error *e);

#endif
