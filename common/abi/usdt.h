/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Where a USDT probe's arguments are, at the instruction that is probed. */
#ifndef ABI_USDT_H
#define ABI_USDT_H

/* A tool's probes have so many sets of places at most; equal ones are one. */
enum { USDT_ARGS = 6, USDT_SETS = 256 };

enum usdt_kind { USDT_NONE, USDT_CONSTANT, USDT_REGISTER, USDT_MEMORY };

enum { USDT_NO_REGISTER = 255 };

/* Registers are bytes of machine_regs (machine/regs.bpf.h). */
struct usdt_arg {
	long long value;	/* the constant; of memory: the distance from its registers */
	unsigned char kind;	/* enum usdt_kind */
	signed char size;	/* bytes: 1, 2, 4 or 8, negative if it has a sign */
	unsigned char reg;	/* of memory: USDT_NO_REGISTER if there is none */
	unsigned char index;	/* of memory: another one, times scale; or USDT_NO_REGISTER */
	unsigned char scale;
	unsigned char unused[3];
};

struct usdt_args {
	struct usdt_arg args[USDT_ARGS];
};

/* The cookie of such a probe: the id of its row of cuda_api.tbl, and 1 + the number of its set. */
enum { USDT_SET_SHIFT = 32 };

#endif
