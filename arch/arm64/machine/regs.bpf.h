/* SPDX-License-Identifier: GPL-2.0 */
/* arm64's registers and calls, for BPF programs: Procedure Call Standard for the Arm 64-bit Architecture (AAPCS64), 6. */
#ifndef MACHINE_REGS_BPF_H
#define MACHINE_REGS_BPF_H
#include <linux/ptrace.h>
#include "machine/call.h"
#include "machine/frame.h"

/* Argument of programs of uprobes, and target of bpf_task_pt_regs() begins with it
 * (arch/arm64/include/asm/ptrace.h). */
typedef struct user_pt_regs machine_regs;

/* Argument n, from 1 to CALL_REGISTERS, which must be a constant, at the entry. */
#define CALL_ARG(ctx, n) (((const machine_regs *)(ctx))->regs[(n) - 1])

/* All of them, into the words at to. */
#define CALL_REGISTER_ARGS(ctx, to) __builtin_memcpy(to, ((const machine_regs *)(ctx))->regs, CALL_REGISTERS * 8)

/* A return address, as the address that it is: pointer authentication signs it in bits 48 to 54 and 56 to 63 (55 says
 * which half of the addresses it is in; that of programs has 0 there). */
#define CODE_ADDRESS(pc) ((pc) & ((1ull << 48) - 1))

#endif
