/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which instruction is which kind of access. */
#ifndef PTX_ACCESS_H
#define PTX_ACCESS_H
#include "ptx/instrument.h"
#include "ptx/ptx.h"

/* How a clock read that follows is made to come after the access. */
enum ptx_wait {
	PTX_BY_VALUE,		/* by its result */
	PTX_BY_FENCE,
	PTX_BY_ITSELF,		/* it is a wait */
};

struct ptx_access {
	const char *kind, *space_name;	/* as in the table of sites */
	unsigned op, space;		/* a bit of enum ptx_ops and of enum ptx_space */
	enum ptx_wait wait;
	int address, value;		/* operands; -1: has none */
	bool texture;			/* the address is a handle, with coordinates in braces */
	bool read_only;			/* what it reads no kernel writes while this one runs */
	unsigned bytes;			/* of a lane; 0: not known */
};

/* Returns true if the instruction is an access or a wait. */
bool ptx_access(struct ptx_access *access, const struct ptx_insn *insn);

#endif
