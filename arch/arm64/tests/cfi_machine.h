/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The machine's part of tests/unit/cfi*.c. */
#ifndef TESTS_CFI_MACHINE_H
#define TESTS_CFI_MACHINE_H
#include <signal.h>
#include <ucontext.h>
#include "elf/cfi.h"

/* By DWARF's numbers. */
static const char *const CFI_NAMES[] = {
	"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
	"x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp", "pc",
};

/* The registers that functions preserve, in order, with the return address. */
static const int CFI_COLUMNS[] = { 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30 };

static inline struct cfi_regs cfi_registers(const ucontext_t *u)
{
	struct cfi_regs regs = { .known = (1ull << UNWIND_REGISTERS) - 1 };

	for (int i = 0; i < UNWIND_SP; i++)
		regs.r[i] = u->uc_mcontext.regs[i];
	regs.r[UNWIND_SP] = u->uc_mcontext.sp;
	regs.r[UNWIND_PC] = u->uc_mcontext.pc;
	return regs;
}

/* Only a debugger has a program stopped before each instruction. */
enum { CFI_STEPS = 0 };

static inline void cfi_step_toggle(ucontext_t *u)
{
	(void)u;
}

static inline void cfi_trap(void)
{
}

/* libgcc's CFA of an interrupted frame is not its stack pointer but in the kernel's record of its registers. */
enum { CFI_INTERRUPTED_SP = 0 };

/* A signal handler's return, of instructions of CFI_NOP bytes.  It finds the frame pointer and the address that was
 * interrupted in the 2nd and 3rd word above it. */
enum { CFI_NOP = 4 };
#define CFI_INTERRUPTED ".cfi_signal_frame\n.cfi_def_cfa sp, 32\n.cfi_offset x29, -16\n.cfi_offset x30, -8\nnop\nnop\nret\n"

#endif
