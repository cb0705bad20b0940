/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: the functions that are not simulated: they say so, and begin as NVIDIA's do. */
extern int sim_driver_state __attribute__((visibility("hidden")));
#define REST(name) \
	__asm__(".pushsection .text\n" \
		".p2align 4\n" \
		".globl " #name "\n" \
		".type " #name ", @function\n" \
		#name ":\n" \
		"cmpl $0x321cba00, sim_driver_state(%rip)\n" \
		"je 1f\n" \
		"mov $801, %eax\n"	/* CUDA_ERROR_NOT_SUPPORTED */ \
		"ret\n" \
		"1: mov $4, %eax\n"	/* CUDA_ERROR_DEINITIALIZED */ \
		"ret\n" \
		".size " #name ", . - " #name "\n" \
		".popsection\n");

#include "drv_rest.def"
