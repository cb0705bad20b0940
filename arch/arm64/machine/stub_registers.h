/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef MACHINE_STUB_REGISTERS_H
#define MACHINE_STUB_REGISTERS_H
#include "machine/frame.h"
#include "machine/stub_frame.h"

/* Sets what is known of the registers of the stub's caller, except its stack pointer. */
static inline void stub_registers(const struct stub_frame *f, unsigned long long *regs)
{
	for (int i = UNWIND_X19; i < UNWIND_FP; i++)
		regs[i] = f->regs.regs[i];
	regs[UNWIND_FP] = f->frame_pointer;
	regs[UNWIND_RA] = regs[UNWIND_PC] = CODE_ADDRESS(f->return_address);
}

#endif
