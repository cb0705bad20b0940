/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Machine code for GPUs, which is an ELF file. */
#ifndef CUBIN_H
#define CUBIN_H
#include <stddef.h>

/* Returns how many instructions a kernel has in a cubin for sm_70 or later, with what fills it up; 0: unknown. */
unsigned cubin_instructions(int fd, const char *symbol);

/* Returns how many functions a cubin in memory has: each has a section of code. */
unsigned cubin_functions(char *data, size_t size);

#endif
