/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* How arm64 calls functions: Procedure Call Standard for the Arm 64-bit Architecture (AAPCS64), 6. */
#ifndef MACHINE_CALL_H
#define MACHINE_CALL_H

enum {
	CALL_REGISTERS = 8,	/* carry arguments */
	CALL_STACK = 0,		/* bytes from the stack pointer at the entry to the first argument there */
	CALL_POPS = 0,		/* bytes by which the stack pointer is higher at the return: its address was in x30 */
	CALL_REFERENCES = 1,	/* 1: a struct larger than 16 bytes is passed by a pointer to a copy */
};

#endif
