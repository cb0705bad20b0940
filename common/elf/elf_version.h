/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The version of a CUDA runtime. */
#ifndef ELF_VERSION_H
#define ELF_VERSION_H

struct elf_file;

/* Returns 12 for a file that defines the symbol version libcudart.so.12, as NVIDIA's runtimes do for
 * all that they export, whatever the file is called; 0 for any other file, also one without section
 * headers. */
int elf_cudart_version(const struct elf_file *f);

#endif
