/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The columns that tell calls apart.  A line has those only that the calls so far need. */
#ifndef TRACE_COLUMNS_H
#define TRACE_COLUMNS_H
#include <stdbool.h>

struct field;
struct trace_call;

struct trace_columns {		/* of the last line; starts zeroed */
	bool some;
	int pid, tid;
};

/* Gives the fields "pid" and "comm" a column, or "layer", for what is known to have several.  Without --tree a
 * function's name tells the layer well enough. */
void trace_columns_processes(struct field *fields);
void trace_columns_layers(struct field *fields);

/* Call for each line: gives fields that tell it from the lines before a column.  Return true if there was none. */
bool trace_columns_see(struct trace_columns *c, struct field *fields, const struct trace_call *call);

#endif
