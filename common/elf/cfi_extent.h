/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Where the code of a function, or of a part of one, begins and ends, by its call frame information: a file
 * has that of all its functions, also where their symbols were stripped. */
#ifndef CFI_EXTENT_H
#define CFI_EXTENT_H
#include <stdbool.h>

struct elf_file;

/* Sets *start and *end (the first address behind it) of the code that has this address; false if there is
 * none.  For a helper, as in cfi.h. */
bool cfi_extent(const struct elf_file *f, unsigned long long addr, unsigned long long *start,
		unsigned long long *end);

#endif
