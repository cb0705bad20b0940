/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Text that a traced program chose, made safe for a terminal and for JSON. */
#ifndef ESCAPE_H
#define ESCAPE_H
#include <stdbool.h>
#include <stdio.h>

/* Writes s; control characters, C1 controls, bidirectional overrides and bytes that are not
 * UTF-8 come out as \xNN, one for each byte.  Returns the columns written, counting a
 * character as one. */
int escape_text(FILE *f, const char *s);

/* Writes s as a JSON string, in quotes; bytes that are not UTF-8 become U+FFFD. */
void escape_json(FILE *f, const char *s);

/* Writes size bytes that another program has printed, which a zero follows: they stay as they are,
 * ends of lines and tabs too, but for what escape_text() escapes; in JSON as \uNNNN and U+FFFD. */
void escape_lines(FILE *f, const char *s, size_t size, bool json);

#endif
