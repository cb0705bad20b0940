/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The machine's part of tests/workloads/jit.c. */
#ifndef TESTS_JIT_H
#define TESTS_JIT_H
#include <string.h>

/* Writes a function with a frame record, below other things in its frame, that calls target, 0x10 bytes after its start the
 * call returns to: stp x29, x30, [sp, #-48]!; mov x29, sp; ldr x16, 1f; blr x16; ldp x29, x30, [sp], #48; ret; 1: target */
static inline void jit_generate(unsigned char *at, const void *target)
{
	static const unsigned code[] = { 0xa9bd7bfd, 0x910003fd, 0x58000090, 0xd63f0200, 0xa8c37bfd, 0xd65f03c0 };

	memcpy(at, code, sizeof(code));
	memcpy(at + sizeof(code), &target, sizeof(target));
	__builtin___clear_cache((char *)at, (char *)at + sizeof(code) + sizeof(target));
}

#endif
