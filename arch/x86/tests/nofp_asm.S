/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Functions as people write them by hand, with CFI that compilers never emit. */
	.text

	.globl asm_cfa
	.type asm_cfa, @function
asm_cfa:
	.cfi_startproc
	push %rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	mov %rsp, %rbx
	.cfi_def_cfa_register %rbx
	sub $0x110, %rsp
	and $-128, %rsp
	call *%rdi
	mov %rbx, %rsp
	.cfi_def_cfa_register %rsp
	pop %rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size asm_cfa, . - asm_cfa

/* the CFA itself is kept on the stack: DW_CFA_def_cfa_expression { breg7 (rsp) + 8; deref } */
	.globl asm_expression
	.type asm_expression, @function
asm_expression:
	.cfi_startproc
	lea 8(%rsp), %rax
	sub $24, %rsp
	.cfi_def_cfa_offset 32
	mov %rax, 8(%rsp)
	.cfi_escape 0x0f, 3, 0x77, 8, 0x06
	call *%rdi
	.cfi_def_cfa %rsp, 32
	add $24, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size asm_expression, . - asm_expression

/* DW_CFA_expression of rbp { breg7 (rsp) + 0 }: no rule has it at a fixed distance from the CFA */
	.globl asm_frame
	.type asm_frame, @function
asm_frame:
	.cfi_startproc
	sub $24, %rsp
	.cfi_def_cfa_offset 32
	mov %rbp, (%rsp)
	.cfi_escape 0x10, 6, 2, 0x77, 0
	mov $0x1234567, %ebp
	call *%rdi
	mov (%rsp), %rbp
	.cfi_same_value %rbp
	add $24, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size asm_frame, . - asm_frame

	.globl asm_register
	.type asm_register, @function
asm_register:
	.cfi_startproc
	push %rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	mov %rbp, %rbx
	.cfi_register %rbp, %rbx
	mov $0x1234567, %ebp
	call *%rdi
	mov %rbx, %rbp
	.cfi_same_value %rbp
	pop %rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size asm_register, . - asm_register

	.globl asm_moves
	.type asm_moves, @function
asm_moves:
	.cfi_startproc
	push %r12
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r12, 0
	push $1
	.cfi_adjust_cfa_offset 8
	push $2
	.cfi_adjust_cfa_offset 8
	.cfi_remember_state
	test %rdi, %rdi
	jz 1f
	push $3
	.cfi_adjust_cfa_offset 8
	push $4
	.cfi_adjust_cfa_offset 8
	call *%rdi
	add $16, %rsp
	.cfi_adjust_cfa_offset -16
1:	.cfi_restore_state
	add $16, %rsp
	.cfi_adjust_cfa_offset -16
	pop %r12
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r12
	ret
	.cfi_endproc
	.size asm_moves, . - asm_moves

	.globl asm_silent
	.type asm_silent, @function
asm_silent:
	sub $0x28, %rsp
	call *%rdi
	add $0x28, %rsp
	ret
	.size asm_silent, . - asm_silent

	.globl asm_lie
	.type asm_lie, @function
asm_lie:
	.cfi_startproc
	sub $24, %rsp
	.cfi_def_cfa_offset 0x3000
	call *%rdi
	add $24, %rsp
	ret
	.cfi_endproc
	.size asm_lie, . - asm_lie

	.globl trap_first
	.type trap_first, @function
trap_first:
	.cfi_startproc
	ud2
	xor %eax, %eax
	ret
	.cfi_endproc
	.size trap_first, . - trap_first

	.section .note.GNU-stack, "", @progbits
