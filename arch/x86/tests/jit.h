/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The machine's part of tests/workloads/jit.c. */
#ifndef TESTS_JIT_H
#define TESTS_JIT_H
#include <string.h>

/* Writes a function with a frame pointer that calls target, 0x10 bytes after its start the call returns to:
 * push %rbp; mov %rsp,%rbp; movabs $target,%rax; call *%rax; pop %rbp; ret */
static inline void jit_generate(unsigned char *at, const void *target)
{
	memcpy(at, "\x55\x48\x89\xe5\x48\xb8", 6);
	memcpy(at + 6, &target, 8);
	memcpy(at + 14, "\xff\xd0\x5d\xc3", 4);
}

#endif
