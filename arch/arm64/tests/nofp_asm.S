/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Functions as people write them by hand, with CFI that compilers never emit. */
	.text

	.globl asm_cfa
	.type asm_cfa, @function
asm_cfa:
	.cfi_startproc
	stp x19, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x19, -16
	.cfi_offset x30, -8
	mov x19, sp
	.cfi_def_cfa_register x19
	sub x9, sp, #0x110
	and sp, x9, #-128
	blr x0
	mov sp, x19
	.cfi_def_cfa_register sp
	ldp x19, x30, [sp], #16
	.cfi_def_cfa_offset 0
	.cfi_restore x19
	.cfi_restore x30
	ret
	.cfi_endproc
	.size asm_cfa, . - asm_cfa

/* the CFA itself is kept on the stack: DW_CFA_def_cfa_expression { breg31 (sp) + 8; deref } */
	.globl asm_expression
	.type asm_expression, @function
asm_expression:
	.cfi_startproc
	mov x9, sp
	sub sp, sp, #32
	.cfi_def_cfa_offset 32
	str x30, [sp, #24]
	.cfi_offset x30, -8
	str x9, [sp, #8]
	.cfi_escape 0x0f, 3, 0x8f, 8, 0x06
	blr x0
	.cfi_def_cfa sp, 32
	ldr x30, [sp, #24]
	.cfi_restore x30
	add sp, sp, #32
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size asm_expression, . - asm_expression

/* DW_CFA_expression of x29 { breg31 (sp) + 0 }: no rule has it at a fixed distance from the CFA */
	.globl asm_frame
	.type asm_frame, @function
asm_frame:
	.cfi_startproc
	sub sp, sp, #32
	.cfi_def_cfa_offset 32
	str x30, [sp, #24]
	.cfi_offset x30, -8
	str x29, [sp]
	.cfi_escape 0x10, 29, 2, 0x8f, 0
	mov x29, #0x4567
	movk x29, #0x123, lsl #16
	blr x0
	ldr x29, [sp]
	.cfi_same_value x29
	ldr x30, [sp, #24]
	.cfi_restore x30
	add sp, sp, #32
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size asm_frame, . - asm_frame

	.globl asm_register
	.type asm_register, @function
asm_register:
	.cfi_startproc
	stp x19, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x19, -16
	.cfi_offset x30, -8
	mov x19, x29
	.cfi_register x29, x19
	mov x29, #0x4567
	movk x29, #0x123, lsl #16
	blr x0
	mov x29, x19
	.cfi_same_value x29
	ldp x19, x30, [sp], #16
	.cfi_def_cfa_offset 0
	.cfi_restore x19
	.cfi_restore x30
	ret
	.cfi_endproc
	.size asm_register, . - asm_register

	.globl asm_moves
	.type asm_moves, @function
asm_moves:
	.cfi_startproc
	stp x21, x30, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	.cfi_rel_offset x21, 0
	.cfi_rel_offset x30, 8
	sub sp, sp, #16
	.cfi_adjust_cfa_offset 16
	.cfi_remember_state
	cbz x0, 1f
	sub sp, sp, #48
	.cfi_adjust_cfa_offset 48
	blr x0
	add sp, sp, #48
	.cfi_adjust_cfa_offset -48
1:	.cfi_restore_state
	add sp, sp, #16
	.cfi_adjust_cfa_offset -16
	ldp x21, x30, [sp], #16
	.cfi_adjust_cfa_offset -16
	.cfi_restore x21
	.cfi_restore x30
	ret
	.cfi_endproc
	.size asm_moves, . - asm_moves

	.globl asm_silent
	.type asm_silent, @function
asm_silent:
	str x30, [sp, #-48]!
	blr x0
	ldr x30, [sp], #48
	ret
	.size asm_silent, . - asm_silent

	.globl asm_lie
	.type asm_lie, @function
asm_lie:
	.cfi_startproc
	str x30, [sp, #-32]!
	.cfi_def_cfa_offset 0x3000
	.cfi_offset x30, -8
	blr x0
	ldr x30, [sp], #32
	ret
	.cfi_endproc
	.size asm_lie, . - asm_lie

	.globl trap_first
	.type trap_first, @function
trap_first:
	.cfi_startproc
	udf #0
	mov w0, wzr
	ret
	.cfi_endproc
	.size trap_first, . - trap_first

	.section .note.GNU-stack, "", @progbits
