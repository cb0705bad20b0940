/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Makes text from a traced program safe for a terminal and for JSON. */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H
#include <stdbool.h>
#include <stdio.h>

/* Writes s; control characters, C1 controls, bidirectional overrides, characters without a width and bytes that are not
 * UTF-8 become \xNN for each byte.  Returns the columns written, counting a
 * character as one. */
int escape_text(FILE *f, const char *s);

/* Writes s as a JSON string, in quotes; bytes that are not UTF-8 become U+FFFD. */
void escape_json(FILE *f, const char *s);

/* Returns how many bytes at s, which is not empty, belong together: those up to the next one that escape_text() or
 * escape_json() look at, or one character.  Sets *keep to false if escape_text() writes them as \xNN. */
int escape_next(const char *s, bool *keep);

/* Writes size bytes of another program's output, with a '\0' after them.  Keeps newlines and tabs;
 * escapes the rest as escape_text() does, or for JSON as \uNNNN and U+FFFD. */
void escape_lines(FILE *f, const char *s, size_t size, bool json);

#endif
