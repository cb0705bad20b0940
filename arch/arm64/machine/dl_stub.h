/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* DL_STUB(NAME): a function NAME of up to three arguments.  It returns what entry_NAME() does for them, unless that is NULL:
 * then it jumps to the function that real_NAME(), without arguments, gives, if there is one.  To that function the caller is
 * its own, and all argument registers are as they were. */
#ifndef MACHINE_DL_STUB_H
#define MACHINE_DL_STUB_H

#define DL_STUB(name) \
	__asm__(".pushsection .text\n" \
		".globl " #name "\n" \
		".type " #name ", @function\n" \
		".p2align 4\n" \
		#name ":\n" \
		".cfi_startproc\n" \
		"hint #34\n"	/* bti c */ \
		"stp x29, x30, [sp, #-48]!\n" \
		".cfi_def_cfa_offset 48\n .cfi_offset x29, -48\n .cfi_offset x30, -40\n" \
		"mov x29, sp\n" \
		"stp x0, x1, [sp, #16]\n" \
		"str x2, [sp, #32]\n" \
		"bl entry_" #name "\n" \
		"cbnz x0, 1f\n" \
		"bl real_" #name "\n" \
		"cbz x0, 1f\n" \
		"mov x16, x0\n" \
		"ldp x0, x1, [sp, #16]\n" \
		"ldr x2, [sp, #32]\n" \
		".cfi_remember_state\n" \
		"ldp x29, x30, [sp], #48\n" \
		".cfi_def_cfa_offset 0\n .cfi_restore x29\n .cfi_restore x30\n" \
		"br x16\n" \
		".cfi_restore_state\n" \
		"1: ldp x29, x30, [sp], #48\n" \
		".cfi_def_cfa_offset 0\n .cfi_restore x29\n .cfi_restore x30\n" \
		"ret\n" \
		".cfi_endproc\n" \
		".size " #name ", . - " #name "\n" \
		".popsection\n")

#endif
