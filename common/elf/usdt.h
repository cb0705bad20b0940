/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* USDT probes: the notes by which a file says where they are (sys/sdt.h of SystemTap, "stapsdt" version 3). */
#ifndef ELF_USDT_H
#define ELF_USDT_H

struct elf_scan;

/* Appends those probes of the file to scan->probes for whose "PROVIDER:NAME" find() returns an id, not -1.
 * At most 64; sets scan->usdt_left if some are left out, and scan->error, unless it is set, to why. */
void elf_usdt_scan(int fd, int (*find)(const void *ctx, const char *name), const void *ctx,
		   struct elf_scan *scan);

#endif
