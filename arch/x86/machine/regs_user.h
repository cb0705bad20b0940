/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* libbpf's names of x86-64's registers, for programs that run in the traced process: each can be assigned to, too. */
#ifndef MACHINE_REGS_USER_H
#define MACHINE_REGS_USER_H
#include <linux/ptrace.h>

typedef struct pt_regs machine_regs;

#define PT_REGS_PARM1(ctx) ((ctx)->rdi)
#define PT_REGS_PARM2(ctx) ((ctx)->rsi)
#define PT_REGS_PARM3(ctx) ((ctx)->rdx)
#define PT_REGS_PARM4(ctx) ((ctx)->rcx)
#define PT_REGS_PARM5(ctx) ((ctx)->r8)
#define PT_REGS_RC(ctx) ((ctx)->rax)
#define PT_REGS_FP(ctx) ((ctx)->rbp)
#define PT_REGS_SP(ctx) ((ctx)->rsp)
#define PT_REGS_IP(ctx) ((ctx)->rip)

/* A return address, as the address that it is. */
#define CODE_ADDRESS(pc) (pc)

#endif
