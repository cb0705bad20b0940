/* SPDX-License-Identifier: GPL-2.0 */
/* What libbpf's header of this name has, for x86-64's struct pt_regs as <linux/ptrace.h> declares it. */
#ifndef INJECT_BPF_TRACING_H
#define INJECT_BPF_TRACING_H

#define PT_REGS_PARM1(ctx) ((ctx)->rdi)
#define PT_REGS_PARM2(ctx) ((ctx)->rsi)
#define PT_REGS_PARM3(ctx) ((ctx)->rdx)
#define PT_REGS_PARM4(ctx) ((ctx)->rcx)
#define PT_REGS_PARM5(ctx) ((ctx)->r8)
#define PT_REGS_RC(ctx) ((ctx)->rax)
#define PT_REGS_SP(ctx) ((ctx)->rsp)
#define PT_REGS_IP(ctx) ((ctx)->rip)

#endif
