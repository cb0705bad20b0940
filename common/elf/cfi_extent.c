/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "elf/cfi_extent.h"
#include "elf/cfi_find.h"

bool cfi_extent(const struct elf_file *f, unsigned long long addr, unsigned long long *start,
		unsigned long long *end)
{
	struct cfi_found found;

	if (!cfi_find(f, addr, &found))
		return false;
	*start = found.fde.start;
	*end = found.fde.end;
	cfi_found_free(&found);
	return true;
}
