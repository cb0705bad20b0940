/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The undefined instruction of nofp_asm.S: its size in bytes, and the program counter of what it interrupted. */
#ifndef TESTS_TRAP_H
#define TESTS_TRAP_H
#include <ucontext.h>

enum { TRAP_SIZE = 4 };

static inline unsigned long long *trap_pc(ucontext_t *interrupted)
{
	return &interrupted->uc_mcontext.pc;
}

#endif
