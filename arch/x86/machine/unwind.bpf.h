/* SPDX-License-Identifier: GPL-2.0 */
/* x86-64's registers from which BPF programs unwind: machine/frame.h. */
#ifndef MACHINE_UNWIND_BPF_H
#define MACHINE_UNWIND_BPF_H
#include "abi/stack_unwind.h"
#include "machine/regs.bpf.h"

/* The registers of UNWIND_KNOWN. */
struct unwind_start {
	__u64 rbx, fp, sp, r12, r13, r14, r15, pc;
};

/* Fills in s from a thread's registers. */
static __always_inline void unwind_start_here(struct unwind_start *s, const machine_regs *regs)
{
	s->rbx = regs->rbx;
	s->fp = regs->rbp;
	s->r12 = regs->r12;
	s->r13 = regs->r13;
	s->r14 = regs->r14;
	s->r15 = regs->r15;
	s->sp = regs->rsp;
	s->pc = regs->rip;
}

static __always_inline void unwind_registers(struct stack_copy *c, const struct unwind_start *s)
{
	c->regs[UNWIND_RBX] = s->rbx;
	c->regs[UNWIND_FP] = s->fp;
	c->regs[UNWIND_SP] = s->sp;
	c->regs[UNWIND_R12] = s->r12;
	c->regs[UNWIND_R12 + 1] = s->r13;
	c->regs[UNWIND_R12 + 2] = s->r14;
	c->regs[UNWIND_R12 + 3] = s->r15;
	c->regs[UNWIND_PC] = s->pc;
}

/* The return address at a function's entry, where the stack pointer is entry: read_word(entry), which reads memory. */
#define ENTRY_RETURN_ADDRESS(ctx, entry, read_word) read_word(entry)

#endif
