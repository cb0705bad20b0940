/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The ELF files of arm64, and of which kind their system calls are. */
#ifndef MACHINE_ELF_H
#define MACHINE_ELF_H
#include <elf.h>
#include <linux/audit.h>

#define MACHINE_ELF EM_AARCH64
#define MACHINE_NAME "64-bit Arm"
#define MACHINE_AUDIT AUDIT_ARCH_AARCH64	/* in struct seccomp_data */

#endif
