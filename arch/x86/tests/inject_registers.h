/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* x86-64's registers at both ends of a call: inject_registers.S and inject_echo.S, where the offsets are of these. */
#ifndef TESTS_INJECT_REGISTERS_H
#define TESTS_INJECT_REGISTERS_H
#include <stddef.h>

/* Words of arguments on the stack. */
enum { REGISTERS_STACK = 24, WORDS_cudaLaunchKernel = 2, WORDS_cuLaunchKernel = 5, WORDS_cudaMemset3D = 7 };

struct registers {
	unsigned long rax, rdi, rsi, rdx, rcx, r8, r9, r10;	/* 0: what a function may be given */
	unsigned long rbx, rbp, r12, r13, r14, r15;		/* 64: what it must keep */
	unsigned long rsp, flags;				/* 112 */
	unsigned int mxcsr, x87;				/* 128 */
	unsigned long spare[3];
	unsigned long stack[REGISTERS_STACK];			/* 160 */
	unsigned char vector[16][32];				/* 352 */
};

#define PART(what, first, last, later) { what, offsetof(struct registers, first), \
	offsetof(struct registers, last) + sizeof(((struct registers *)0)->last) - offsetof(struct registers, first), later }

static const struct registers_part registers_given[] = {
	PART("arguments in registers", rdi, r9, 0), PART("rax at the entry", rax, rax, 0), PART("r10 at the entry", r10, r10, 1), { 0 },
};
static const struct registers_part registers_results[] = { PART("the result", rax, rax, 0), PART("the result", rdx, rdx, 0), { 0 } };
static const struct registers_part registers_kept[] = { PART("registers to keep", rbx, r15, 0), { 0 } };

/* Vectors at the entry, of which the dynamic linker keeps the first, and those of a result; bytes of each. */
enum { VECTORS = 16, VECTORS_LAZY = 8, VECTORS_RESULT = 2 };
static inline int registers_wide(void) { return __builtin_cpu_supports("avx2") != 0; }
static inline size_t vector_bytes(int wide) { return wide ? 32 : 16; }

/* Where cudaMalloc stores. */
static inline void first_argument(struct registers *r, void *p) { r->rdi = (unsigned long)p; }

static inline int is_aligned(const struct registers *seen) { return seen->rsp % 16 == 8; }
static inline int has_direction(const struct registers *r) { return (r->flags & 0x400) != 0; }
static inline int modes_differ(const struct registers *a, const struct registers *b)
{
	return a->mxcsr != b->mxcsr || ((a->x87 ^ b->x87) & 0xffff);
}

#endif
