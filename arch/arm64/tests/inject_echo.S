/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A runtime whose functions store the registers that they were called with: see inject_registers.h. */
	.text
	.macro	exported name
	.globl	\name
	.type	\name, @function
\name:
	.endm

	exported cudaMalloc
	exported cudaFree
	exported cudaLaunchKernel
	exported cuLaunchKernel
	exported cudaMemset3D
	adrp	x9, seen
	add	x9, x9, :lo12:seen
	stp	x0, x1, [x9]
	stp	x2, x3, [x9, #16]
	stp	x4, x5, [x9, #32]
	stp	x6, x7, [x9, #48]
	stp	x8, x18, [x9, #64]
	mov	x10, sp
	mrs	x11, fpcr
	stp	x10, x11, [x9, #168]
	add	x11, x9, #192
	mov	w12, #24
1:	ldr	x13, [x10], #8
	str	x13, [x11], #8
	subs	w12, w12, #1
	b.ne	1b
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	str	q\i, [x9, #384 + 16 * \i]
	.endr
	.irp	i, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	movi	v\i\().2d, #0
	.endr
	adrp	x10, result
	add	x10, x10, :lo12:result
	.irp	i, 0, 1, 2, 3
	ldr	q\i, [x10, #384 + 16 * \i]
	.endr
	ldp	x0, x1, [x10]
	.irp	i, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18
	mov	x\i, #-\i
	.endr
	ret

	exported echo_seen
	adrp	x0, seen
	add	x0, x0, :lo12:seen
	ret
	exported echo_result
	adrp	x0, result
	add	x0, x0, :lo12:result
	ret
	exported echo_wide
	ret

	.bss
	.balign	64
seen:	.skip	1024
result:	.skip	1024
	.section .note.GNU-stack, "", @progbits
