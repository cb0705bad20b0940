/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Private to lines_read.c. */
#ifndef LINES_DWARF_H
#define LINES_DWARF_H
#include <elfutils/libdw.h>

struct helper_job;

/* Appends a struct lines_entry with its strings to the answer for each function at this address, from the innermost
 * inlined one outwards. */
void lines_dwarf_read(Dwarf *dwarf, Dwarf_Addr addr, struct helper_job *job);

#endif
