/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The layout of stubs, for C and assembler. */
#ifndef AGENT_INJECT_STUB_H
#define AGENT_INJECT_STUB_H

#define STUBS 8192
#define STUB_BYTES 16

/* struct stub, which a stub passes: a cache line each, at the beginning of struct injected. */
#define STUB_SIZE 64
#define STUB_REAL 0
#define STUB_FLAGS 8
#define STUB_OFF_BIT 1
#define STUB_OFF (1 << STUB_OFF_BIT)	/* INJECT_OFF */
#endif
