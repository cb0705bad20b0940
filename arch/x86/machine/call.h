/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* How x86-64 calls functions: System V ABI for x86-64, 3.2. */
#ifndef MACHINE_CALL_H
#define MACHINE_CALL_H

enum {
	CALL_REGISTERS = 6,	/* carry arguments */
	CALL_STACK = 8,		/* bytes from the stack pointer at the entry to the first argument there */
	CALL_POPS = 8,		/* bytes by which the stack pointer is higher at the return: the return address */
	CALL_REFERENCES = 0,	/* 1: a struct larger than 16 bytes is passed by a pointer to a copy */
};

#endif
