/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A call as a line of text or JSON. */
#ifndef SNOOP_ROW_H
#define SNOOP_ROW_H
#include <stdbool.h>
#include "cli/field.h"
#include "view/columns.h"

struct cuda_fn;
struct memory_effect;
struct memory_event;
struct stack;

struct snoop_row {
	unsigned long long time, size, ptr, latency, stream;
	int pid, tid, ret;
	unsigned int device;
	const char *comm, *container, *layer, *func, *op, *memory, *result, *error;
	bool complete;
	const struct stack *stack;
};

enum { SNOOP_FIELDS = 20 };

struct snoop_rows {		/* starts zeroed */
	struct field fields[SNOOP_FIELDS + 1];	/* with a terminator */
	struct devices_seen devices;
};

/* Chooses the columns: the time of day, stacks, and the device from the beginning. */
void snoop_rows_init(struct snoop_rows *rows, bool times, bool stacks, bool devices);

/* Returns the row of a call that had this effect, which it refers to, without stack, complete and container. */
struct snoop_row snoop_row(const struct memory_event *e, const struct memory_effect *did);

/* Prints the row, before it a new head where it has something new to tell apart. */
void snoop_row_print(struct snoop_rows *rows, const struct snoop_row *row);

#endif
