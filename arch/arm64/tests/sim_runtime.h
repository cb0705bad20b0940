/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Functions of the simulated runtime that only jump to another: tests/sim/rt_launch.c, which defines VISIBILITY(). */
#ifndef TESTS_SIM_RUNTIME_H
#define TESTS_SIM_RUNTIME_H

/* as NVIDIA's: room that is not used, and the jump */
#define JUMP(name, to) \
	__asm__(".pushsection .text\n" \
		".p2align 4\n" \
		".globl " #name "\n" VISIBILITY(name) \
		".type " #name ", %function\n" \
		#name ":\n" \
		"sub sp, sp, #0x20\n" \
		"mov w4, w4\n" \
		"mov w2, w2\n" \
		"add sp, sp, #0x20\n" \
		"b " #to "\n" \
		".size " #name ", . - " #name "\n" \
		".popsection\n")

#endif
