/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The exported symbols of an ELF file without section headers, found through the dynamic segment,
 * as the dynamic linker does. */
#ifndef ELF_DYNAMIC_H
#define ELF_DYNAMIC_H
#include <elf.h>
#include <stddef.h>
#include "elf/elf_bytes.h"

/* Makes up headers of the sections .dynsym and .dynstr for a file with nsegments segments.
 * Returns an array of *n headers, which the caller frees; NULL, with *n set to 0, if the file has
 * no dynamic segment. */
Elf64_Shdr *elf_dynamic_sections(const struct elf_bytes *b, const Elf64_Phdr *segments,
				 size_t nsegments, size_t *n);

#endif
