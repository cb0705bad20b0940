/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Calls a function with every register known: see inject_registers.h. */
	.text
	.globl	registers_call
	.type	registers_call, @function
registers_call:
	push	%rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	push	%rcx			/* wide */
	push	%rdx			/* out */
	push	%rdi			/* fn; what is above is aligned by 16 now, with the return address */
	mov	%rsi, %r11
	sub	$200, %rsp		/* 24 words and one, so that the call is aligned: 8 + 9 * 8 + 200 = 280 */
	sub	$8, %rsp
	xor	%eax, %eax
1:	mov	160(%r11,%rax,8), %rdi
	mov	%rdi, (%rsp,%rax,8)
	inc	%rax
	cmp	$24, %rax
	jne	1b
	test	%ecx, %ecx
	jz	2f
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovdqu	352+32*\i(%r11), %ymm\i
	.endr
	jmp	3f
2:	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movdqu	352+32*\i(%r11), %xmm\i
	.endr
3:	mov	(%r11), %rax
	mov	8(%r11), %rdi
	mov	16(%r11), %rsi
	mov	24(%r11), %rdx
	mov	32(%r11), %rcx
	mov	40(%r11), %r8
	mov	48(%r11), %r9
	mov	56(%r11), %r10
	mov	64(%r11), %rbx
	mov	72(%r11), %rbp
	mov	80(%r11), %r12
	mov	88(%r11), %r13
	mov	96(%r11), %r14
	mov	104(%r11), %r15
	call	*208(%rsp)
	mov	216(%rsp), %r11		/* out */
	mov	%rax, (%r11)
	mov	%rdx, 24(%r11)
	mov	%rbx, 64(%r11)
	mov	%rbp, 72(%r11)
	mov	%r12, 80(%r11)
	mov	%r13, 88(%r11)
	mov	%r14, 96(%r11)
	mov	%r15, 104(%r11)
	mov	%rsp, 112(%r11)
	pushf
	pop	120(%r11)
	stmxcsr	128(%r11)
	fnstcw	132(%r11)
	cld
	cmpl	$0, 224(%rsp)
	jz	4f
	vmovdqu	%ymm0, 352(%r11)
	vmovdqu	%ymm1, 352+32(%r11)
	vzeroupper
	jmp	5f
4:	movdqu	%xmm0, 352(%r11)
	movdqu	%xmm1, 352+32(%r11)
5:	add	$232, %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	pop	%rbp
	ret
	.size	registers_call, .-registers_call

	.macro	by_plt name
	.globl	registers_plt_\name
	.type	registers_plt_\name, @function
registers_plt_\name:
	jmp	\name@PLT
	.size	registers_plt_\name, .-registers_plt_\name
	.endm
	by_plt	cudaMalloc
	by_plt	cudaLaunchKernel
	by_plt	cuLaunchKernel
	by_plt	cudaMemset3D

	.globl	registers_got_cudaFree
	.type	registers_got_cudaFree, @function
registers_got_cudaFree:
	jmp	*cudaFree@GOTPCREL(%rip)
	.size	registers_got_cudaFree, .-registers_got_cudaFree
	.section .note.GNU-stack, "", @progbits
