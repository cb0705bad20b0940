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
	lea	seen(%rip), %r11
	mov	%rax, (%r11)
	mov	%rdi, 8(%r11)
	mov	%rsi, 16(%r11)
	mov	%rdx, 24(%r11)
	mov	%rcx, 32(%r11)
	mov	%r8, 40(%r11)
	mov	%r9, 48(%r11)
	mov	%r10, 56(%r11)
	mov	%rsp, 112(%r11)
	pushf
	pop	120(%r11)
	stmxcsr	128(%r11)
	fnstcw	132(%r11)
	xor	%eax, %eax
1:	mov	8(%rsp,%rax,8), %rdi
	mov	%rdi, 160(%r11,%rax,8)
	inc	%rax
	cmp	$24, %rax
	jne	1b
	lea	result(%rip), %r10
	cmpl	$0, is_wide(%rip)
	jz	2f
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovdqu	%ymm\i, 352+32*\i(%r11)
	vpxor	%ymm\i, %ymm\i, %ymm\i
	.endr
	vmovdqu	352(%r10), %ymm0
	vmovdqu	352+32(%r10), %ymm1
	jmp	3f
2:	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movdqu	%xmm\i, 352+32*\i(%r11)
	pxor	%xmm\i, %xmm\i
	.endr
	movdqu	352(%r10), %xmm0
	movdqu	352+32(%r10), %xmm1
3:	mov	(%r10), %rax
	mov	24(%r10), %rdx
	mov	$-1, %rdi
	mov	$-2, %rsi
	mov	$-3, %rcx
	mov	$-4, %r8
	mov	$-5, %r9
	mov	$-6, %r10
	mov	$-7, %r11
	ret

	exported echo_seen
	lea	seen(%rip), %rax
	ret
	exported echo_result
	lea	result(%rip), %rax
	ret
	exported echo_wide
	mov	%edi, is_wide(%rip)
	ret

	.bss
	.balign	64
seen:	.skip	1024
result:	.skip	1024
is_wide: .skip	4
	.section .note.GNU-stack, "", @progbits
