/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Calls a function with every register known: see inject_registers.h. */
	.text
	.globl	registers_call
	.type	registers_call, @function
registers_call:
	stp	x29, x30, [sp, #-176]!
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	stp	d8, d9, [sp, #96]
	stp	d10, d11, [sp, #112]
	stp	d12, d13, [sp, #128]
	stp	d14, d15, [sp, #144]
	str	x2, [sp, #160]		/* out */
	mov	x15, x0			/* fn */
	mov	x9, x1
	sub	sp, sp, #24 * 8
	add	x10, x9, #192
	mov	x11, sp
	mov	w12, #24
1:	ldr	x13, [x10], #8
	str	x13, [x11], #8
	subs	w12, w12, #1
	b.ne	1b
	.irp	i, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
	ldr	q\i, [x9, #384 + 16 * \i]
	.endr
	.irp	i, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
	ldr	q\i, [x9, #384 + 16 * \i]
	.endr
	ldp	x0, x1, [x9]
	ldp	x2, x3, [x9, #16]
	ldp	x4, x5, [x9, #32]
	ldp	x6, x7, [x9, #48]
	ldp	x8, x18, [x9, #64]
	ldp	x19, x20, [x9, #80]
	ldp	x21, x22, [x9, #96]
	ldp	x23, x24, [x9, #112]
	ldp	x25, x26, [x9, #128]
	ldp	x27, x28, [x9, #144]
	ldr	x29, [x9, #160]
	blr	x15
	ldr	x9, [sp, #24 * 8 + 160]
	stp	x0, x1, [x9]
	stp	x19, x20, [x9, #80]
	stp	x21, x22, [x9, #96]
	stp	x23, x24, [x9, #112]
	stp	x25, x26, [x9, #128]
	stp	x27, x28, [x9, #144]
	str	x29, [x9, #160]
	mov	x10, sp
	mrs	x11, fpcr
	stp	x10, x11, [x9, #168]
	.irp	i, 0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15
	str	q\i, [x9, #384 + 16 * \i]
	.endr
	add	sp, sp, #24 * 8
	ldp	d8, d9, [sp, #96]
	ldp	d10, d11, [sp, #112]
	ldp	d12, d13, [sp, #128]
	ldp	d14, d15, [sp, #144]
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	x29, x30, [sp], #176
	ret
	.size	registers_call, .-registers_call

	.macro	by_plt name
	.globl	registers_plt_\name
	.type	registers_plt_\name, @function
registers_plt_\name:
	b	\name
	.size	registers_plt_\name, .-registers_plt_\name
	.endm
	by_plt	cudaMalloc
	by_plt	cudaLaunchKernel
	by_plt	cuLaunchKernel
	by_plt	cudaMemset3D

	.globl	registers_got_cudaFree
	.type	registers_got_cudaFree, @function
registers_got_cudaFree:
	adrp	x16, :got:cudaFree
	ldr	x16, [x16, :got_lo12:cudaFree]
	br	x16
	.size	registers_got_cudaFree, .-registers_got_cudaFree
	.section .note.GNU-stack, "", @progbits
