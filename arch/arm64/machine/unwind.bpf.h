/* SPDX-License-Identifier: GPL-2.0 */
/* arm64's registers from which BPF programs unwind: machine/frame.h. */
#ifndef MACHINE_UNWIND_BPF_H
#define MACHINE_UNWIND_BPF_H
#include "abi/stack_unwind.h"
#include "machine/regs.bpf.h"

/* The registers of UNWIND_KNOWN: those that are not here are left where they are, as the stack is small. */
struct unwind_start {
	__u64 fp, sp, pc;
	__u64 regs;	/* address of the machine_regs */
};

/* Fills in s from a thread's registers. */
static __always_inline void unwind_start_here(struct unwind_start *s, const machine_regs *regs)
{
	s->fp = regs->regs[UNWIND_FP];
	s->sp = regs->sp;
	s->pc = regs->pc;
	s->regs = (__u64)regs;
}

static __always_inline void unwind_registers(struct stack_copy *c, const struct unwind_start *s)
{
	const machine_regs *regs = (const void *)s->regs;

	bpf_probe_read_kernel(&c->regs[UNWIND_X19], (UNWIND_SP - UNWIND_X19) * 8, &regs->regs[UNWIND_X19]);
	c->regs[UNWIND_SP] = s->sp;
	c->regs[UNWIND_PC] = s->pc;
}

/* The return address at a function's entry, where the stack pointer is entry. */
#define ENTRY_RETURN_ADDRESS(ctx, entry, read_word) CODE_ADDRESS((ctx)->regs[UNWIND_X30])

#endif
