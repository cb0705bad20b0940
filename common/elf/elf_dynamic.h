/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The exported symbols of an ELF file without section headers, found as the dynamic linker does,
 * by the dynamic segment.  For elf_file.c alone. */
#ifndef ELF_DYNAMIC_H
#define ELF_DYNAMIC_H
#include "elf/elf_file.h"

/* Gives the file, which has n segments, the headers of sections .dynsym and .dynstr; none if they
 * are not to be found. */
void elf_dynamic_sections(struct elf_file *f, const Elf64_Phdr *segments, size_t n);

#endif
