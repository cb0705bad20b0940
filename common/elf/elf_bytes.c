/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/die.h"
#include "elf/elf_bytes.h"

static bool read_all(int fd, char *to, unsigned long long at, unsigned long long size)
{
	ssize_t n;

	for (unsigned long long got = 0; got < size; got += n) {
		n = pread(fd, to + got, size - got, at + got);
		if (n <= 0)
			return false;
	}
	return true;
}

/* Sets *from and *to to the next data between them; false if there are only holes. */
static bool next_data(int fd, unsigned long long *from, unsigned long long *to)
{
	off_t data = lseek(fd, *from, SEEK_DATA), hole;

	if (data < 0)		/* ENXIO: there is none; else not supported */
		return errno != ENXIO;
	hole = lseek(fd, data, SEEK_HOLE);
	if ((unsigned long long)data >= *to)
		return false;
	*from = data;
	if (hole > data && (unsigned long long)hole < *to)
		*to = hole;
	return true;
}

/* Holes are not worth a search in less than SMALL. */
enum { SMALL = 64 << 10 };

void *elf_bytes_part(const struct elf_bytes *b, unsigned long long at, unsigned long long size)
{
	unsigned long long from = at, to = at + size;
	char *part;

	if (!size || size > ELF_MAX_PART || size > b->size || at > b->size - size)
		return NULL;
	part = xcalloc(1, size);
	while (from < at + size && (size <= SMALL || next_data(b->fd, &from, &to))) {
		if (!read_all(b->fd, part + (from - at), from, to - from)) {
			free(part);
			return NULL;
		}
		from = to;
		to = at + size;
	}
	return part;
}
