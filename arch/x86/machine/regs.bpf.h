/* SPDX-License-Identifier: GPL-2.0 */
/* x86-64's registers and calls, for BPF programs: System V ABI for x86-64, 3.2. */
#ifndef MACHINE_REGS_BPF_H
#define MACHINE_REGS_BPF_H
#include <linux/ptrace.h>
#include "machine/call.h"
#include "machine/frame.h"

/* Argument of programs of uprobes, and target of bpf_task_pt_regs(). */
typedef struct pt_regs machine_regs;

/* Argument n, from 1 to CALL_REGISTERS, which must be a constant, at the entry. */
#define CALL_ARG(ctx, n) CALL_ARG_##n(ctx)
#define CALL_ARG_1(ctx) ((ctx)->rdi)
#define CALL_ARG_2(ctx) ((ctx)->rsi)
#define CALL_ARG_3(ctx) ((ctx)->rdx)
#define CALL_ARG_4(ctx) ((ctx)->rcx)
#define CALL_ARG_5(ctx) ((ctx)->r8)
#define CALL_ARG_6(ctx) ((ctx)->r9)

/* All of them, into the words at to. */
#define CALL_REGISTER_ARGS(ctx, to)						\
do {										\
	(to)[0] = CALL_ARG(ctx, 1);						\
	(to)[1] = CALL_ARG(ctx, 2);						\
	(to)[2] = CALL_ARG(ctx, 3);						\
	(to)[3] = CALL_ARG(ctx, 4);						\
	(to)[4] = CALL_ARG(ctx, 5);						\
	(to)[5] = CALL_ARG(ctx, 6);						\
} while (0)

/* A return address, as the address that it is. */
#define CODE_ADDRESS(pc) (pc)

#endif
