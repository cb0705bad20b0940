/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* x86-64's registers of a frame, and where a frame keeps its caller's: System V ABI for x86-64, 3.2. */
#ifndef MACHINE_FRAME_H
#define MACHINE_FRAME_H

/* DWARF's numbers (figure 3.36); those that are not named are 0 to 16, too. */
enum unwind_register {
	UNWIND_RAX, UNWIND_RBX = 3, UNWIND_FP = 6, UNWIND_SP = 7, UNWIND_R12 = 12, UNWIND_PC = 16,
	UNWIND_REGISTERS,
	UNWIND_RA = UNWIND_PC,	/* the column of the return address */
};

/* Registers that a function preserves for its caller, a bit each. */
#define UNWIND_PRESERVED (1ull << UNWIND_RBX | 1ull << UNWIND_FP | 0xfull << UNWIND_R12)

/* State of a thread in BPF programs. */
#define UNWIND_KNOWN (UNWIND_PRESERVED | 1ull << UNWIND_SP | 1ull << UNWIND_PC)

enum {
	UNWIND_PUSHED = 8,	/* bytes that a call pushes: the return address */
	UNWIND_POINTER_SP = 1,	/* a frame pointer gives the caller's stack pointer, which is two words above it */
};

/* Words from the return address to the CFA, where those from the saved frame pointer are known. */
#define UNWIND_RA_WORDS(fp_words) 1

/* A return address, as the address that it is. */
#define CODE_ADDRESS(pc) (pc)

/* elfutils' backends/x86_64_cfi.c takes rax for rbx, and rbx for rax, in its defaults. */
#define UNWIND_BAD_DEFAULT(reg) ((reg) == UNWIND_RAX || (reg) == UNWIND_RBX)

/* The code that a signal handler returns to, if it is the kernel's own without unwind information: 0, it is the C library's, which
 * has some. */
#define UNWIND_TRAMPOLINE 0ull

#endif
