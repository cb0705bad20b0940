/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* How the exports of the simulated driver begin: tests/sim/drv.h, which includes this. */
#ifndef TESTS_SIM_DRIVER_H
#define TESTS_SIM_DRIVER_H

/* a comparison that cannot be emulated, a branch, an indirect jump; registers and stack are untouched until the
 * implementation
 */
#define DRV_IMPL(name) sim_impl_##name
#define DRV_STUB(name) \
	__asm__(".pushsection .text\n" \
		".p2align 4\n" \
		".globl " #name "\n" \
		".type " #name ", @function\n" \
		#name ":\n" \
		"cmpl $0x321cba00, sim_driver_state(%rip)\n" \
		"je 1f\n" \
		"jmp *sim_slot_" #name "(%rip)\n" \
		".byte 0x66, 0x0f, 0x1f, 0x44, 0, 0\n"	/* so that it is je +12 */ \
		"1: movl $4, %eax\n"	/* CUDA_ERROR_DEINITIALIZED */ \
		"ret\n" \
		".size " #name ", . - " #name "\n" \
		".popsection\n" \
		".pushsection .data.rel.ro.local, \"aw\"\n" \
		".p2align 3\n" \
		"sim_slot_" #name ": .quad sim_impl_" #name "\n" \
		".popsection\n"); \
	HIDDEN __typeof__(name) DRV_IMPL(name)

#endif
