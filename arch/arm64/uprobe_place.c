/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdbool.h>
#include <string.h>
#include "elf/elf.h"

/* The kernel simulates branches, adr and adrp, and from 6.13 on nop (arch/arm64/kernel/probes/decode-insn.c).  Single-stepping a
 * copy of another instruction costs twice as much. */
static bool insn_simulated(unsigned insn)
{
	return (insn & 0x1f000000) == 0x10000000 ||		/* adr, adrp */
	       (insn & 0x7c000000) == 0x14000000 ||		/* b, bl */
	       (insn & 0xff000010) == 0x54000000 ||		/* b.cond */
	       (insn & 0x7e000000) == 0x34000000 ||		/* cbz, cbnz */
	       (insn & 0x7e000000) == 0x36000000 ||		/* tbz, tbnz */
	       insn == 0xd503201f;				/* nop */
}

/* Only bti c: for a return probe the kernel replaces x30 where the probe is, so x30 must be the return address there, neither
 * signed (paciasp) nor stored (stp x29, x30) yet. */
static bool insn_skippable(unsigned insn)
{
	return insn == 0xd503245f;
}

size_t uprobe_cheap_offset(const unsigned char *code, size_t len)
{
	unsigned insn;

	for (size_t at = 0; at + sizeof(insn) <= len; at += sizeof(insn)) {
		memcpy(&insn, code + at, sizeof(insn));
		if (insn_simulated(insn))
			return at;
		if (!insn_skippable(insn))
			break;
	}
	return 0;
}
