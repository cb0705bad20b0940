/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Reads a file whose owner may change or truncate it meanwhile: each part is read once, into its
 * own memory, if the file contains it and it is not too large. */
#ifndef ELF_BYTES_H
#define ELF_BYTES_H

/* More than any library needs; a file that claims more is not worth the memory and time. */
#define ELF_MAX_PART	(128ull << 20)

struct elf_bytes {
	int fd;			/* the caller's */
	unsigned long long size;	/* at open time */
};

/* Returns size bytes of the file from offset at, which the caller frees; NULL if it lacks any.  Holes
 * of a sparse file are not read: they cost their owner nothing. */
void *elf_bytes_part(const struct elf_bytes *b, unsigned long long at, unsigned long long size);

#endif
