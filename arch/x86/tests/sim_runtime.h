/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Functions of the simulated runtime that only jump to another: tests/sim/rt_launch.c, which defines VISIBILITY(). */
#ifndef TESTS_SIM_RUNTIME_H
#define TESTS_SIM_RUNTIME_H

/* as NVIDIA's: a frame, none, and the jump */
#define JUMP(name, to) \
	__asm__(".pushsection .text\n" \
		".p2align 4\n" \
		".globl " #name "\n" VISIBILITY(name) \
		".type " #name ", @function\n" \
		#name ":\n" \
		"push %rbp\n" \
		"mov %rsp, %rbp\n" \
		"pop %rbp\n" \
		"jmp " #to "\n" \
		".size " #name ", . - " #name "\n" \
		".popsection\n")

#endif
