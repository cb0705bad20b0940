/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The line numbers of Python code: co_lnotab (3.8, 3.9), co_linetable of PEP 626 (3.10), and the location
 * table (3.11 and newer); see Objects/lnotab_notes.txt and InternalDocs/code_objects.md in CPython. */
#ifndef LINE_TABLE_H
#define LINE_TABLE_H
#include <stddef.h>

/* From this code unit on. */
struct line_range {
	unsigned unit, line;	/* line 0: none */
};

/* Reads a table of size bytes of untrusted data into size + 2 ranges, in order of units; returns how many
 * there are.  version: PY_VERSION_HEX >> 16. */
size_t line_table_read(unsigned version, unsigned first_line, const unsigned char *table, size_t size,
		       struct line_range *ranges);

/* Returns the line of a unit; 0 if there is none. */
unsigned line_table_find(const struct line_range *ranges, size_t n, unsigned unit);

#endif
