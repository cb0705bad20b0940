/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A file that bpftrace reads in the place of one with CUDA functions.  bpftrace reads symbols as
 * root, and opens whatever a .gnu_debuglink names: it must not see another user's file. */
#ifndef BT_STANDIN_H
#define BT_STANDIN_H
#include "elf/elf.h"

/* Returns a descriptor of an ELF file in memory that has the functions of scan, whose ids are those
 * of cuda_protos[], and nothing else.  The caller closes it. */
int bt_standin_new(const struct elf_scan *scan);

/* Returns the number in scan->probes of the function at an offset in that file; -1 if there is
 * none. */
int bt_standin_probe(const struct elf_scan *scan, unsigned long long offset);

#endif
