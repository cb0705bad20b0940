/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Registers at both ends of a call: inject_registers.c, and arch/ARCH/tests/inject_registers.h with struct registers. */
#ifndef TESTS_WORKLOADS_INJECT_REGISTERS_H
#define TESTS_WORKLOADS_INJECT_REGISTERS_H

struct registers;

/* A part of struct registers. */
struct registers_part {
	const char *what;
	unsigned at, bytes;
	int later;		/* the dynamic linker may lose it when it binds a function lazily */
};

/* Calls fn with what in has (of vectors the wide ones if wide), and stores what is there afterwards in out. */
extern void registers_call(void (*fn)(void), const struct registers *in, struct registers *out, int wide);

/* Jump through the program's PLT, or its GOT, to the function of their names. */
extern void registers_plt_cudaMalloc(void), registers_got_cudaFree(void), registers_plt_cudaLaunchKernel(void);
extern void registers_plt_cuLaunchKernel(void), registers_plt_cudaMemset3D(void);

/* The echo (inject_echo.S): each of its functions stores what it was called with, and returns with all registers that it
 * may change changed, those of results to what echo_result has. */
extern struct registers *echo_seen(void), *echo_result(void);
extern void echo_wide(int wide);

#endif
