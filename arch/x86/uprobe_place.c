/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdbool.h>
#include <string.h>
#include "elf/elf.h"

/* The kernel emulates push, nop, call, jmp and jcc (arch/x86/kernel/uprobes.c).  Single-stepping a copy of another
 * instruction costs nine times as much. */

/* Returns the length of an instruction that can be skipped, else 0. */
static size_t insn_skippable(const unsigned char *c, size_t len)
{
	if (len >= 4 && !memcmp(c, "\xf3\x0f\x1e\xfa", 4))
		return 4;			/* endbr64 */
	if (len >= 10 && c[0] == 0x81 && c[1] == 0x3d)
		return 10;			/* cmpl $imm32, disp32(%rip) */
	if (len >= 7 && (c[0] == 0x83 || c[0] == 0x80) && c[1] == 0x3d)
		return 7;			/* cmpl, cmpb $imm8, disp32(%rip) */
	if (len >= 8 && c[0] == 0x48 && c[1] == 0x83 && c[2] == 0x3d)
		return 8;			/* cmpq $imm8, disp32(%rip) */
	if (len >= 2 && c[0] == 0x66 && c[1] == 0x90)
		return 2;			/* xchg %ax, %ax */
	return 0;
}

static bool insn_emulated(const unsigned char *c, size_t len)
{
	if (len < 2)
		return false;
	return (c[0] >= 0x50 && c[0] <= 0x57) ||			/* push */
	       (c[0] == 0x41 && c[1] >= 0x50 && c[1] <= 0x57) ||
	       c[0] == 0x90 || c[0] == 0xe8 || c[0] == 0xe9 || c[0] == 0xeb ||
	       (c[0] >= 0x70 && c[0] <= 0x7f) ||			/* jcc */
	       (c[0] == 0x0f && c[1] >= 0x80 && c[1] <= 0x8f);
}

size_t uprobe_cheap_offset(const unsigned char *code, size_t len)
{
	size_t at = 0, step;

	while (!insn_emulated(code + at, len - at)) {
		step = insn_skippable(code + at, len - at);
		if (!step)
			return 0;
		at += step;
	}
	return at;
}
