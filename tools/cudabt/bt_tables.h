/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The maps in which a script looks up names. */
#ifndef BT_TABLES_H
#define BT_TABLES_H
#include <stdio.h>
#include "api/cuda_protos.h"

struct bt_tables {		/* all zero: none */
	const struct cuda_enum **enums;	/* nenums of them: @cudabt_TYPE[value] */
	int nenums;
	bool *functions;	/* by id: @cudabt_func[id]; NULL: none */
};

/* Writes the name of a value, key, of an enum, or of a function. */
void bt_tables_enum(struct bt_tables *t, FILE *out, const struct cuda_enum *e, const char *key);
void bt_tables_function(struct bt_tables *t, FILE *out, int id);

/* Writes what fills the maps in use before the first event, and what clears them so that they are
 * not printed at the end.  wanted, by id: the functions that the program names. */
void bt_tables_write(const struct bt_tables *t, const bool *wanted, FILE *fill, FILE *clear);

void bt_tables_free(struct bt_tables *t);

#endif
