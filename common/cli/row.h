/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Prints rows of fields, as aligned text or JSON lines. */
#ifndef CLI_ROW_H
#define CLI_ROW_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "cli/field.h"

/* Prints the line of column headings, in text only. */
void out_head(const struct field *fields);

/* Prints one row. */
void out_row(const struct field *fields, const void *row);

/* A table, of which at most max rows are printed; 0: all as JSON, else text_rows. */
struct out_block {
	const struct field *fields;
	const void *rows;
	size_t size, n;		/* of a row, bytes; rows */
	long max;
	int text_rows;
};

/* Prints head, rows, and how many more there are; in text, an empty line before it unless it is the *first, which is cleared. */
void out_block(const struct out_block *b, bool *first);

/* Prints a row as a JSON object, without a newline. */
void out_object(const struct field *fields, const void *row);

/* Print the columns of headings or a row as text, without the newline and the lines below. */
void out_text_head(FILE *file, const struct field *fields);
void out_text(FILE *file, const struct field *fields, const void *row);

#endif
