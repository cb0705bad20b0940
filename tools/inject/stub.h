/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The layout of stubs, for C and assembler. */
#ifndef INJECT_STUB_H
#define INJECT_STUB_H

#define STUBS 8192
#define STUB_BYTES 16

/* struct stub, which a stub passes: 48 bytes each, at the beginning of struct injected. */
#define STUB_SIZE 48
#define STUB_REAL 0
#define STUB_FLAGS 8
#define STUB_OFF 2		/* INJECT_OFF */

/* Offsets of the registers in struct pt_regs. */
#define R15 0
#define R14 8
#define R13 16
#define R12 24
#define RBP 32
#define RBX 40
#define R10 56
#define R9 64
#define R8 72
#define RAX 80
#define RCX 88
#define RDX 96
#define RSI 104
#define RDI 112
#define ORIG_RAX 120		/* the stub */
#define CS 136
#define RSP 152
#define REGS_SIZE 168
#define USER_CS 0x33
#endif
