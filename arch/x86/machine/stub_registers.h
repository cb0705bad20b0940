/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef MACHINE_STUB_REGISTERS_H
#define MACHINE_STUB_REGISTERS_H
#include "machine/frame.h"
#include "machine/stub_frame.h"

/* Sets what is known of the registers of the stub's caller, except its stack pointer. */
static inline void stub_registers(const struct stub_frame *f, unsigned long long *regs)
{
	regs[UNWIND_RBX] = f->regs.rbx;
	regs[UNWIND_FP] = f->frame_pointer;
	regs[UNWIND_R12] = f->regs.r12;
	regs[UNWIND_R12 + 1] = f->regs.r13;
	regs[UNWIND_R12 + 2] = f->regs.r14;
	regs[UNWIND_R12 + 3] = f->regs.r15;
	regs[UNWIND_PC] = f->return_address;
}

#endif
