/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Private to lines.c and lines_read.c. */
#ifndef LINES_DWARF_H
#define LINES_DWARF_H
#include <elfutils/libdw.h>

struct helper_job;

/* For each line in an answer; the strings follow, each with a '\0'. */
struct lines_entry {
	int line, inlined;
	unsigned function, file;	/* sizes of the strings; 0: unknown */
};

/* Appends a struct lines_entry with its strings to the answer for each function at this address, from the innermost
 * inlined one outwards. */
void lines_dwarf_read(Dwarf *dwarf, Dwarf_Addr addr, struct helper_job *job);

#endif
