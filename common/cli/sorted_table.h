/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Rows that the user sorts by one of their columns: in blocks of text, as JSON, or on the terminal's screen. */
#ifndef CLI_SORTED_TABLE_H
#define CLI_SORTED_TABLE_H
#include <stdbool.h>
#include "cli/row.h"
#include "cli/top_screen.h"

/* Numbers descend, missing ones last; ints (PIDs) and strings ascend. */
struct table_sort {
	const char *key;	/* of the field; NULL: only the order of sorted_table.then */
	const char *title;	/* on the screen; NULL: the column's heading */
};

struct sorted_table {
	/* set by the tool */
	const struct field *fields;
	const struct table_sort *sorts;	/* ended by one with neither key nor title */
	int (*then)(const struct sorted_table *t, const void *row, const void *other);	/* compares rows that are equal there */
	void (*totals)(const struct sorted_table *t, FILE *f);	/* on the screen: prints the beginning of the title */
	void (*after)(FILE *f, const void *row);	/* on the screen: prints what comes after the columns; or NULL */
	int sort;		/* index into sorts */
	long max;		/* rows; 0: text_rows, but all in JSON and on the screen */
	int text_rows;
	void *rows;
	size_t size, n;		/* of a row, bytes; rows */
	struct top_view screen;	/* only who */
	/* state */
	bool begun;		/* a block has been printed */
	bool reverse;
};

/* Call when tracing starts: sets the screen, with keys to sort and to reverse the order. */
void sorted_table_start(struct sorted_table *t);

/* Sorts the rows, and prints them as text or JSON; screen.draw() draws them. */
void sorted_table_print(struct sorted_table *t);

#endif
