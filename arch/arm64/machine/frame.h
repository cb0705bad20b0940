/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* arm64's registers of a frame, and where a frame keeps its caller's: Procedure Call Standard for the Arm 64-bit
 * Architecture (AAPCS64), 6. */
#ifndef MACHINE_FRAME_H
#define MACHINE_FRAME_H

/* DWARF's numbers (DWARF for the Arm 64-bit Architecture, 4.1): x0 to x30, sp.  The address at which a frame goes on has
 * no number: that of its return address is 30, from which it follows.  32, which is reserved, stands for it. */
enum unwind_register {
	UNWIND_X19 = 19, UNWIND_FP = 29, UNWIND_X30 = 30, UNWIND_SP = 31, UNWIND_PC = 32,
	UNWIND_REGISTERS,
	UNWIND_RA = UNWIND_X30,	/* the column of the return address */
};

/* Registers that a function preserves for its caller, a bit each: x19 to x30, as a function that calls none leaves x30. */
#define UNWIND_PRESERVED (0xfffull << UNWIND_X19)

/* State of a thread in BPF programs. */
#define UNWIND_KNOWN (UNWIND_PRESERVED | 1ull << UNWIND_SP | 1ull << UNWIND_PC)

enum {
	UNWIND_PUSHED = 0,	/* bytes that a call pushes: none, the return address is in x30 */
	UNWIND_POINTER_SP = 0,	/* a frame pointer does not give the caller's stack pointer: it can be anywhere in the frame */
};

/* Words from the return address to the CFA, where those from the saved frame pointer are known: a frame record has both. */
#define UNWIND_RA_WORDS(fp_words) ((fp_words) - 1)

/* A return address, as the address that it is: pointer authentication signs it in bits 48 to 54 and 56 to 63 (55 says
 * which half of the addresses it is in; that of programs has 0 there). */
#define CODE_ADDRESS(pc) ((pc) & ((1ull << 48) - 1))

/* elfutils' defaults are right. */
#define UNWIND_BAD_DEFAULT(reg) ((void)(reg), 0)

/* The code that a signal handler returns to, if it is the kernel's own without unwind information: the vDSO's mov x8, #139;
 * svc #0.  Linux has none there since 5.8. */
#define UNWIND_TRAMPOLINE 0xd4000001d2801168ull

#endif
