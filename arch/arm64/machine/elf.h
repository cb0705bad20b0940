/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The ELF files of arm64. */
#ifndef MACHINE_ELF_H
#define MACHINE_ELF_H
#include <elf.h>

#define MACHINE_ELF EM_AARCH64
#define MACHINE_NAME "64-bit Arm"

/* The relocations of a library that binds nothing: the address where it is mapped, and a place in a thread's memory, from the
 * thread pointer. */
enum { MACHINE_RELATIVE = R_AARCH64_RELATIVE, MACHINE_THREAD = R_AARCH64_TLS_TPREL };

#endif
