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
		"endbr64\n" \
		"push %rdi\n .cfi_adjust_cfa_offset 8\n" \
		"push %rsi\n .cfi_adjust_cfa_offset 8\n" \
		"push %rdx\n .cfi_adjust_cfa_offset 8\n" \
		"call entry_" #name "\n" \
		"pop %rdx\n .cfi_adjust_cfa_offset -8\n" \
		"pop %rsi\n .cfi_adjust_cfa_offset -8\n" \
		"pop %rdi\n .cfi_adjust_cfa_offset -8\n" \
		"test %rax, %rax\n" \
		"jnz 1f\n" \
		"sub $8, %rsp\n .cfi_adjust_cfa_offset 8\n" \
		"push %rdi\n .cfi_adjust_cfa_offset 8\n" \
		"push %rsi\n .cfi_adjust_cfa_offset 8\n" \
		"push %rdx\n .cfi_adjust_cfa_offset 8\n" \
		"sub $8, %rsp\n .cfi_adjust_cfa_offset 8\n" \
		"call real_" #name "\n" \
		"add $8, %rsp\n .cfi_adjust_cfa_offset -8\n" \
		"pop %rdx\n .cfi_adjust_cfa_offset -8\n" \
		"pop %rsi\n .cfi_adjust_cfa_offset -8\n" \
		"pop %rdi\n .cfi_adjust_cfa_offset -8\n" \
		"add $8, %rsp\n .cfi_adjust_cfa_offset -8\n" \
		"test %rax, %rax\n" \
		"jz 1f\n" \
		"jmp *%rax\n" \
		"1: ret\n" \
		".cfi_endproc\n" \
		".size " #name ", . - " #name "\n" \
		".popsection\n")

#endif
