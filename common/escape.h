/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Text that a traced program chose, made safe for a terminal and for JSON. */
#ifndef ESCAPE_H
#define ESCAPE_H
#include <stdio.h>

/* Writes s; control characters, C1 controls, bidirectional overrides and bytes that are not
 * UTF-8 come out as \xNN, one for each byte.  Returns the columns written, counting a
 * character as one. */
int escape_text(FILE *f, const char *s);

/* Writes s as a JSON string, in quotes; bytes that are not UTF-8 become U+FFFD. */
void escape_json(FILE *f, const char *s);

#endif
