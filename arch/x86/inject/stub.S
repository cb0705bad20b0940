/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The stubs: a pool of them, each of which loads its struct stub and jumps to inject_common.  A stub that is off costs a few
 * instructions, and saves no register.
 *
 * On the stack a stub is a function like any other: it has unwind tables, and a frame with a frame pointer while the
 * function runs, if its return is awaited.  If it is not, the stub jumps to the function, and leaves no frame.  No vector
 * register is touched here or in functions that are called from here. */
#include "agent/inject/stub.h"

/* Offsets of the registers in struct pt_regs, with which struct stub_frame begins. */
#define R15 0
#define R14 8
#define R13 16
#define R12 24
#define RBP 32
#define RBX 40
#define R10 56
#define R9 64
#define R8 72
#define RAX 80
#define RCX 88
#define RDX 96
#define RSI 104
#define RDI 112
#define ORIG_RAX 120		/* the stub */
#define CS 136
#define RSP 152
#define REGS_SIZE 168
#define USER_CS 0x33

	.text
	.globl	inject_stubs
	.hidden	inject_stubs
	.type	inject_stubs, @function
	.p2align 4
inject_stubs:
	.cfi_startproc
	.set	number, 0
	.rept	STUBS
	endbr64
	lea	injected + number * STUB_SIZE(%rip), %r11
	jmp	inject_common
	.p2align 4
	.set	number, number + 1
	.endr
	.cfi_endproc
	.size	inject_stubs, . - inject_stubs

/* The frame, from its frame pointer downwards: the mark, the registers, the copy of the arguments on the stack
 * (machine/stub_frame.h). */
#define MARK	-8
#define REGS	(MARK - REGS_SIZE)

	.type	inject_common, @function
	.p2align 4
inject_common:
	.cfi_startproc
	push	%rax
	.cfi_adjust_cfa_offset 8
	mov	STUB_FLAGS(%r11), %rax
	testb	$STUB_OFF, (%rax)
	pop	%rax			/* flags stay */
	.cfi_adjust_cfa_offset -8
	jnz	4f
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	sub	$-REGS, %rsp
	movq	$0, MARK(%rbp)
	mov	%r15, R15(%rsp)
	mov	%r14, R14(%rsp)
	mov	%r13, R13(%rsp)
	mov	%r12, R12(%rsp)
	mov	%rbx, RBX(%rsp)
	mov	%r10, R10(%rsp)
	mov	%r9, R9(%rsp)
	mov	%r8, R8(%rsp)
	mov	%rax, RAX(%rsp)
	mov	%rcx, RCX(%rsp)
	mov	%rdx, RDX(%rsp)
	mov	%rsi, RSI(%rsp)
	mov	%rdi, RDI(%rsp)
	mov	%r11, ORIG_RAX(%rsp)
	mov	(%rbp), %rax
	mov	%rax, RBP(%rsp)
	lea	8(%rbp), %rax
	mov	%rax, RSP(%rsp)
	movq	$USER_CS, CS(%rsp)
	mov	%rsp, %rdi
	mov	%r11, %rsi
	call	inject_entered
	mov	%rax, %r11
	test	%edx, %edx
	jnz	1f

	mov	R10(%rsp), %r10
	mov	R9(%rsp), %r9
	mov	R8(%rsp), %r8
	mov	RAX(%rsp), %rax
	mov	RCX(%rsp), %rcx
	mov	RDX(%rsp), %rdx
	mov	RSI(%rsp), %rsi
	mov	RDI(%rsp), %rdi
	.cfi_remember_state
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	jmp	*%r11
	.cfi_restore_state

1:	dec	%edx			/* words of arguments on the stack */
	jz	3f
	mov	%edx, %ecx
	inc	%ecx			/* the stack stays aligned */
	and	$-2, %ecx
	shl	$3, %ecx
	sub	%rcx, %rsp
2:	mov	8(%rbp, %rdx, 8), %rax	/* the last one first: they begin at 16(%rbp) */
	mov	%rax, -8(%rsp, %rdx, 8)
	dec	%edx
	jnz	2b
3:	mov	REGS + R10(%rbp), %r10
	mov	REGS + R9(%rbp), %r9
	mov	REGS + R8(%rbp), %r8
	mov	REGS + RAX(%rbp), %rax
	mov	REGS + RCX(%rbp), %rcx
	mov	REGS + RDX(%rbp), %rdx
	mov	REGS + RSI(%rbp), %rsi
	mov	REGS + RDI(%rbp), %rdi
	call	*%r11

	lea	REGS(%rbp), %rsp
	mov	%rax, RAX(%rsp)
	mov	%rdx, RDX(%rsp)
	mov	%rsp, %rdi
	mov	ORIG_RAX(%rsp), %rsi
	call	inject_returned
	mov	RAX(%rsp), %rax
	mov	RDX(%rsp), %rdx
	movq	$0, MARK(%rbp)
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret

4:	jmp	*STUB_REAL(%r11)
	.cfi_endproc
	.size	inject_common, . - inject_common

	.section .note.GNU-stack, "", @progbits

/* as a compiler's -fcf-protection: branches end at endbr64, and returns match calls */
	.section .note.gnu.property, "a"
	.p2align 3
	.long	4, 16, 5		/* sizes of the name and of what follows it, NT_GNU_PROPERTY_TYPE_0 */
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0	/* GNU_PROPERTY_X86_FEATURE_1_AND: IBT, SHSTK */
