/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Prints rows of fields, as aligned text or JSON lines. */
#ifndef ROW_H
#define ROW_H
#include <stdio.h>
#include "cli/field.h"

/* Prints the line of column headings, in text only. */
void out_head(const struct field *fields);

/* Prints one row. */
void out_row(const struct field *fields, const void *row);

/* Prints a row as a JSON object, without a newline. */
void out_object(const struct field *fields, const void *row);

/* Print the columns of headings or a row as text, without the newline and the lines below. */
void out_text_head(FILE *file, const struct field *fields);
void out_text(FILE *file, const struct field *fields, const void *row);

#endif
