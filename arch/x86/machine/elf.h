/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The ELF files of x86-64. */
#ifndef MACHINE_ELF_H
#define MACHINE_ELF_H
#include <elf.h>

#define MACHINE_ELF EM_X86_64
#define MACHINE_NAME "64-bit x86"

#endif
