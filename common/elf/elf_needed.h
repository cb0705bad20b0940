/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The libraries that a file needs.  Private to elf. */
#ifndef ELF_NEEDED_H
#define ELF_NEEDED_H
#include <stdbool.h>

struct elf_file;

/* Return true if the file needs a library whose name begins so. */
bool elf_needs(const struct elf_file *f, const char *prefix);

#endif
