/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The bytes of a file whose owner may change or truncate it meanwhile: each part is read once,
 * into memory of its own, if the file has it and it is not too large. */
#ifndef ELF_BYTES_H
#define ELF_BYTES_H

/* More than any library has; a file that claims more is not worth the memory and the time. */
#define ELF_MAX_PART	(256ull << 20)

struct elf_bytes {
	int fd;			/* the caller's */
	unsigned long long size;	/* when it was opened */
};

/* The file's bytes from at, the caller's to free(); NULL if it does not have them all. */
void *elf_bytes_part(const struct elf_bytes *b, unsigned long long at, unsigned long long size);

#endif
