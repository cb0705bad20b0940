/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* libbpf's names of arm64's registers, for programs that run in the traced process: each can be assigned to, too. */
#ifndef MACHINE_REGS_USER_H
#define MACHINE_REGS_USER_H
#include <linux/ptrace.h>

/* bpf/lib calls it so, as libbpf does. */
struct pt_regs;
typedef struct user_pt_regs machine_regs;

#define PT_REGS_PARM1(ctx) (((machine_regs *)(ctx))->regs[0])
#define PT_REGS_PARM2(ctx) (((machine_regs *)(ctx))->regs[1])
#define PT_REGS_PARM3(ctx) (((machine_regs *)(ctx))->regs[2])
#define PT_REGS_PARM4(ctx) (((machine_regs *)(ctx))->regs[3])
#define PT_REGS_PARM5(ctx) (((machine_regs *)(ctx))->regs[4])
#define PT_REGS_RC(ctx) (((machine_regs *)(ctx))->regs[0])
#define PT_REGS_FP(ctx) (((machine_regs *)(ctx))->regs[29])
#define PT_REGS_SP(ctx) (((machine_regs *)(ctx))->sp)
#define PT_REGS_IP(ctx) (((machine_regs *)(ctx))->pc)

/* A return address, as the address that it is: pointer authentication signs it in bits 48 to 54 and 56 to 63 (55 says
 * which half of the addresses it is in; that of programs has 0 there). */
#define CODE_ADDRESS(pc) ((pc) & ((1ull << 48) - 1))

#endif
