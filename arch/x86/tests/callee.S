/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* callee(): keeps the integer registers that carry arguments in words[64], then the words above the return address; calls
 * called(), and returns as a function whose result is in memory.  For tests/protos/abi.cpp. */
	.text
	.globl	callee
callee:	mov	%rdi, words(%rip)
	mov	%rsi, words+8(%rip)
	mov	%rdx, words+16(%rip)
	mov	%rcx, words+24(%rip)
	mov	%r8, words+32(%rip)
	mov	%r9, words+40(%rip)
	push	%rdi
	lea	16(%rsp), %rsi
	lea	words+48(%rip), %rdi
	mov	$58, %ecx
	rep movsq
	call	called
	pop	%rax
	ret
	.section .note.GNU-stack, "", @progbits
