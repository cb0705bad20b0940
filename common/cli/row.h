/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Rows of fields that are declared once, as aligned text or as JSON lines. */
#ifndef ROW_H
#define ROW_H
#include <stdio.h>
#include "cli/field.h"

/* The line of column headings, in text only. */
void out_head(const struct field *fields);

/* One row. */
void out_row(const struct field *fields, const void *row);

/* The columns of either in text, without the end of the line and what stands below it. */
void out_text_head(FILE *file, const struct field *fields);
void out_text(FILE *file, const struct field *fields, const void *row);

#endif
