/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Links from an ELF file to its separate debug file.  For a helper: libelf trusts what it reads. */
#ifndef ELF_ELF_DEBUG_H
#define ELF_ELF_DEBUG_H
#include <stdbool.h>
#include <stddef.h>

/* ld's --build-id makes 8 to 20 bytes. */
enum { ELF_BUILD_ID_MAX = 64 };

struct elf_debug {
	unsigned char id[ELF_BUILD_ID_MAX];	/* NT_GNU_BUILD_ID */
	size_t id_size;		/* 0: the file has none */
	bool symbols;		/* it has a .symtab */
	bool lines;		/* it has a .debug_info */
};

/* Return false if fd, open for reading, is not an ELF file of this machine's kind. */
bool elf_debug_read(int fd, struct elf_debug *d);

/* Return true if both have the same build id. */
bool elf_debug_same(const struct elf_debug *a, const struct elf_debug *b);

#endif
