/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The machine's part of tests/unit/cfi*.c. */
#ifndef TESTS_CFI_MACHINE_H
#define TESTS_CFI_MACHINE_H
#include <signal.h>
#include <ucontext.h>
#include "elf/cfi.h"

/* By DWARF's numbers. */
static const char *const CFI_NAMES[] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13",
	"r14", "r15", "rip",
};

/* The registers that functions preserve, in order, with the return address. */
static const int CFI_COLUMNS[] = { 3, 6, 12, 13, 14, 15, 16 };

static inline struct cfi_regs cfi_registers(const ucontext_t *u)
{
	static const int FROM[UNWIND_REGISTERS] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8, REG_R9,
		REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
	};
	struct cfi_regs regs = { .known = (1ull << UNWIND_REGISTERS) - 1 };

	for (int i = 0; i < UNWIND_REGISTERS; i++)
		regs.r[i] = u->uc_mcontext.gregs[FROM[i]];
	return regs;
}

/* A program can have a signal before each of its instructions: it raises SIGTRAP to begin and to end that. */
enum { CFI_STEPS = 1, TRAP_FLAG = 0x100 };

static inline void cfi_step_toggle(ucontext_t *u)
{
	u->uc_mcontext.gregs[REG_EFL] ^= TRAP_FLAG;
}

static inline void cfi_trap(void)
{
	__asm__ volatile("int3" ::: "memory");
}

/* libgcc has the stack pointer of an interrupted frame as its CFA. */
enum { CFI_INTERRUPTED_SP = 1 };

/* A signal handler's return, of instructions of CFI_NOP bytes.  It finds the frame pointer and the address that was
 * interrupted in the 2nd and 3rd word above it. */
enum { CFI_NOP = 1 };
#define CFI_INTERRUPTED ".cfi_signal_frame\n.cfi_def_cfa rsp, 32\n.cfi_offset rbp, -16\nnop\nnop\nret\n"

#endif
