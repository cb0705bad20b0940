/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Work of the nodes of a CUDA graph, for cudalaunchtop --graphs. */
#ifndef CUDALAUNCHTOP_GRAPH_VIEW_H
#define CUDALAUNCHTOP_GRAPH_VIEW_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "kernels/kernel_name.h"

struct launch_row;

/* Nodes with the same name; of copies, memsets and memory: of the same size. */
struct graph_item {
	const char *kind;	/* kernel, cooperative, memcpy, memset, host, alloc, free, conditional or other */
	const char *kernel;	/* its name or address; NULL: it is none */
	const char *shown, *short_name;	/* the same in text, and by its short name */
	const char *direction;	/* of a copy; else NULL */
	unsigned long long count, bytes;	/* bytes: of each; NO_VALUE: it has none */
	char *address;		/* kernel is here if it has no name */
};

struct graph_items {
	struct graph_item *all;	/* kernels first, then by count */
	size_t n;
	unsigned long long kernels, nodes;
	unsigned long long memory, taken;	/* bytes: by the nodes that allocate; by the thread while it captured */
};

/* Returns the items of a row by graph; free with graph_items_free().  style: of names in text, and with
 * KERNEL_FULL of all. */
struct graph_items graph_items(const struct launch_row *row, enum kernel_style style);
void graph_items_free(struct graph_items *items);

/* Prints the items after each other, for the end of a line. */
void graph_items_line(FILE *f, const struct graph_items *items);

/* Prints a line for each of the first items, and one for the memory, below the row. */
void graph_items_text(const struct graph_items *items);

/* Prints the items, which is a const struct graph_items *, as a JSON array. */
void graph_items_json(FILE *f, const void *items);

#endif
