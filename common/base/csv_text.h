/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef BASE_CSV_TEXT_H
#define BASE_CSV_TEXT_H
#include <stdio.h>

/* Writes a field of text for comma-separated values: in quotes if it has a comma or a quote, and escaped as in a terminal,
 * so that it stays in its line. */
void csv_text(FILE *f, const char *s);

#endif
