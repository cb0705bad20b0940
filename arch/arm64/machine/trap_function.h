/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The code of a function of which budget/overhead.c measures what a trap costs, as NVIDIA's functions begin: the kernel executes a copy of the instruction. */
#ifndef MACHINE_TRAP_FUNCTION_H
#define MACHINE_TRAP_FUNCTION_H

enum { TRAP_AT = 4 };	/* bytes into the function: behind bti c */
#define TRAP_FUNCTION_CODE "hint #34\n\tstp x29, x30, [sp, #-16]!\n\tldp x29, x30, [sp], #16\n\tret"

#endif
