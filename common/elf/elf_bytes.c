/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <unistd.h>
#include "base/die.h"
#include "elf/elf_bytes.h"

void *elf_bytes_part(const struct elf_bytes *b, unsigned long long at, unsigned long long size)
{
	ssize_t n;
	char *part;

	if (!size || size > ELF_MAX_PART || size > b->size || at > b->size - size)
		return NULL;
	part = xcalloc(1, size);
	for (size_t got = 0; got < size; got += n) {
		n = pread(b->fd, part + got, size - got, at + got);
		if (n <= 0) {
			free(part);
			return NULL;
		}
	}
	return part;
}
