/* SPDX-License-Identifier: GPL-2.0 */
/* arm64's registers from which BPF programs unwind: machine/frame.h. */
#ifndef MACHINE_UNWIND_BPF_H
#define MACHINE_UNWIND_BPF_H
#include "abi/stack_unwind.h"
#include "machine/regs.bpf.h"

/* The registers of UNWIND_KNOWN. */
struct unwind_start {
	__u64 saved[10];	/* x19 to x28 */
	__u64 fp, x30, sp, pc;
};

/* Fills in s from a thread's registers. */
static __always_inline void unwind_start_here(struct unwind_start *s, const machine_regs *regs)
{
	for (int i = 0; i < 10; i++)
		s->saved[i] = regs->regs[UNWIND_X19 + i];
	s->fp = regs->regs[UNWIND_FP];
	s->x30 = regs->regs[UNWIND_X30];
	s->sp = regs->sp;
	s->pc = regs->pc;
}

static __always_inline void unwind_registers(struct stack_copy *c, const struct unwind_start *s)
{
	for (int i = 0; i < 10; i++)
		c->regs[UNWIND_X19 + i] = s->saved[i];
	c->regs[UNWIND_FP] = s->fp;
	c->regs[UNWIND_X30] = s->x30;
	c->regs[UNWIND_SP] = s->sp;
	c->regs[UNWIND_PC] = s->pc;
}

/* The return address at a function's entry, where the stack pointer is entry. */
#define ENTRY_RETURN_ADDRESS(ctx, entry, read_word) CODE_ADDRESS((ctx)->regs[UNWIND_X30])

#endif
