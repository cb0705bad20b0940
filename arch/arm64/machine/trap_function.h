/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef MACHINE_TRAP_FUNCTION_H
#define MACHINE_TRAP_FUNCTION_H

/* Defines void name(void): it begins as NVIDIA's functions do, and the kernel executes a copy of the
 * instruction at which it traps. */
enum { TRAP_AT = 4 };	/* bytes into the function: behind bti c */
#define TRAP_FUNCTION(name) \
	TRAP_FUNCTION_OF(name, "hint #34\n\tstp x29, x30, [sp, #-16]!\n\tldp x29, x30, [sp], #16\n\tret")
#define TRAP_FUNCTION_OF(name, code)						\
	void name(void);							\
	asm(".pushsection .text\n\t.type " #name ", @function\n"		\
	    #name ":\n\t.cfi_startproc\n\t" code "\n\t.cfi_endproc\n\t"		\
	    ".size " #name ", . - " #name "\n\t.popsection")

#endif
