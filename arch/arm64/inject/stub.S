/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The stubs: a pool of them, each of which loads its struct stub and jumps to inject_common.  A stub that is off costs a few
 * instructions, and saves no register.  Only x16 and x17 are free, which a linker's code may use between any two functions.
 *
 * On the stack a stub is a function like any other: it has unwind tables, and a frame record while the function runs, if its
 * return is awaited.  If it is not, the stub jumps to the function, and leaves no frame.  No vector register is touched here
 * or in functions that are called from here. */
#include "agent/inject/stub.h"

	.text
	.globl	inject_stubs
	.hidden	inject_stubs
	.type	inject_stubs, @function
	.p2align 4
inject_stubs:
	.cfi_startproc
	.set	number, 0
	.rept	STUBS
	hint	#34			/* bti c */
	adrp	x16, injected + number * STUB_SIZE
	add	x16, x16, :lo12:injected + number * STUB_SIZE
	b	inject_common
	.set	number, number + 1
	.endr
	.cfi_endproc
	.size	inject_stubs, . - inject_stubs

/* The frame, from its frame pointer downwards: the mark and the stub, the registers, the copy of the arguments on the stack
 * (machine/stub_frame.h). */
#define MARK	-8
#define STUB	-16
#define REGS	(STUB - 34 * 8)

	.type	inject_common, @function
	.p2align 4
inject_common:
	.cfi_startproc
	ldr	x17, [x16, #STUB_FLAGS]
	ldr	w17, [x17]
	tbnz	w17, #STUB_OFF_BIT, 4f
	stp	x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	mov	x29, sp
	.cfi_def_cfa_register x29
	sub	sp, sp, #-REGS
	stp	x16, xzr, [x29, #STUB]
	stp	x0, x1, [sp]
	stp	x2, x3, [sp, #2 * 8]
	stp	x4, x5, [sp, #4 * 8]
	stp	x6, x7, [sp, #6 * 8]
	str	x8, [sp, #8 * 8]
	stp	x18, x19, [sp, #18 * 8]
	stp	x20, x21, [sp, #20 * 8]
	stp	x22, x23, [sp, #22 * 8]
	stp	x24, x25, [sp, #24 * 8]
	stp	x26, x27, [sp, #26 * 8]
	ldr	x17, [x29]
	stp	x28, x17, [sp, #28 * 8]
	add	x17, x29, #16
	stp	x30, x17, [sp, #30 * 8]
	mov	x0, sp
	mov	x1, x16
	bl	inject_entered
	mov	x16, x0
	cbnz	w1, 1f

	ldp	x0, x1, [sp]
	ldp	x2, x3, [sp, #2 * 8]
	ldp	x4, x5, [sp, #4 * 8]
	ldp	x6, x7, [sp, #6 * 8]
	ldr	x8, [sp, #8 * 8]
	ldr	x18, [sp, #18 * 8]
	.cfi_remember_state
	mov	sp, x29
	ldp	x29, x30, [sp], #16
	.cfi_def_cfa sp, 0
	.cfi_restore x29
	.cfi_restore x30
	br	x16
	.cfi_restore_state

1:	subs	w1, w1, #1		/* words of arguments on the stack */
	b.eq	3f
	add	w2, w1, #1		/* the stack stays aligned */
	and	w2, w2, #~1
	sub	sp, sp, x2, lsl #3
	add	x3, x29, #16
	mov	x4, sp
2:	sub	w1, w1, #1
	ldr	x5, [x3, x1, lsl #3]
	str	x5, [x4, x1, lsl #3]
	cbnz	w1, 2b
3:	ldp	x0, x1, [x29, #REGS]
	ldp	x2, x3, [x29, #REGS + 2 * 8]
	ldp	x4, x5, [x29, #REGS + 4 * 8]
	ldp	x6, x7, [x29, #REGS + 6 * 8]
	ldr	x8, [x29, #REGS + 8 * 8]
	ldr	x18, [x29, #REGS + 18 * 8]
	blr	x16

	add	sp, x29, #REGS
	str	x0, [sp]
	str	x1, [sp, #9 * 8]	/* x1's place has an argument, which inject_returned() needs */
	mov	x0, sp
	ldr	x1, [x29, #STUB]
	bl	inject_returned
	ldr	x0, [sp]
	ldr	x1, [sp, #9 * 8]
	str	xzr, [x29, #MARK]
	mov	sp, x29
	ldp	x29, x30, [sp], #16
	.cfi_def_cfa sp, 0
	.cfi_restore x29
	.cfi_restore x30
	ret

4:	ldr	x16, [x16, #STUB_REAL]
	br	x16
	.cfi_endproc
	.size	inject_common, . - inject_common

	.section .note.GNU-stack, "", @progbits

/* as a compiler's -mbranch-protection=standard: branches end at bti, and no return address is changed */
	.section .note.gnu.property, "a"
	.p2align 3
	.long	4, 16, 5		/* sizes of the name and of what follows it, NT_GNU_PROPERTY_TYPE_0 */
	.asciz	"GNU"
	.long	0xc0000000, 4, 3, 0	/* GNU_PROPERTY_AARCH64_FEATURE_1_AND: BTI, PAC */
