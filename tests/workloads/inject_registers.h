/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Registers at both ends of a call: inject_registers.c and inject_registers.S.  The offsets there are of these. */
#ifndef INJECT_REGISTERS_H
#define INJECT_REGISTERS_H

enum { REGISTERS_STACK = 24 };

struct registers {
	unsigned long rax, rdi, rsi, rdx, rcx, r8, r9, r10;	/* 0: what a function may be given */
	unsigned long rbx, rbp, r12, r13, r14, r15;		/* 64: what it must keep */
	unsigned long rsp, flags;				/* 112 */
	unsigned int mxcsr, x87;				/* 128 */
	unsigned long spare[3];
	unsigned long stack[REGISTERS_STACK];			/* 160 */
	unsigned char vector[16][32];				/* 352 */
};

/* Calls fn with what in has (of vectors all 32 bytes if avx), and stores what is there afterwards in out. */
extern void registers_call(void (*fn)(void), const struct registers *in, struct registers *out, int avx);

/* Jump through the program's PLT, or its GOT, to the function of their names. */
extern void registers_plt_cudaMalloc(void), registers_got_cudaFree(void);
extern void registers_plt_cudaLaunchKernel(void), registers_plt_cudaMemset3D(void);

/* The echo (inject_echo.S): each of its functions stores what it was called with, and returns with all registers that it
 * may change changed, those of results to what echo_result has. */
extern struct registers *echo_seen(void), *echo_result(void);
extern void echo_avx(int avx);

#endif
