/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* callee(): keeps the registers that carry arguments in words[64], then the words of the stack; calls called().  For
 * tests/protos/abi.cpp. */
	.text
	.globl	callee
callee:	adrp	x9, words
	add	x9, x9, :lo12:words
	stp	x0, x1, [x9]
	stp	x2, x3, [x9, #16]
	stp	x4, x5, [x9, #32]
	stp	x6, x7, [x9, #48]
	add	x9, x9, #64
	mov	x10, sp
	mov	x11, #56
1:	ldr	x12, [x10], #8
	str	x12, [x9], #8
	subs	x11, x11, #1
	b.ne	1b
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	bl	called
	ldp	x29, x30, [sp], #16
	ret
	.section .note.GNU-stack, "", %progbits
