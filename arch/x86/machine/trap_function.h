/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The code of a function of which budget/overhead.c measures what a trap costs, as compilers begin most functions: the kernel emulates the instruction. */
#ifndef MACHINE_TRAP_FUNCTION_H
#define MACHINE_TRAP_FUNCTION_H

enum { TRAP_AT = 4 };	/* bytes into the function: behind endbr64 */
#define TRAP_FUNCTION_CODE "endbr64\n\tpush %rbp\n\t.cfi_adjust_cfa_offset 8\n\tpop %rbp\n\t.cfi_adjust_cfa_offset -8\n\tret"

#endif
