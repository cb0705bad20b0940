/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* arm64's registers at both ends of a call: inject_registers.S and inject_echo.S, where the offsets are of these. */
#ifndef TESTS_INJECT_REGISTERS_H
#define TESTS_INJECT_REGISTERS_H
#include <stddef.h>

/* Words of arguments on the stack. */
enum { REGISTERS_STACK = 24, WORDS_cudaLaunchKernel = 0, WORDS_cuLaunchKernel = 3, WORDS_cudaMemset3D = 0 };

struct registers {
	unsigned long x[9], x18;			/* 0: what a function may be given */
	unsigned long kept[11];				/* 80: x19 to x29, which it must keep */
	unsigned long sp, fpcr, spare;			/* 168 */
	unsigned long stack[REGISTERS_STACK];		/* 192 */
	unsigned char vector[32][16];			/* 384 */
};

#define PART(what, first, last, later) { what, offsetof(struct registers, first), \
	offsetof(struct registers, last) + sizeof(((struct registers *)0)->last) - offsetof(struct registers, first), later }
#define LOW_HALF(n) { "vector registers to keep", offsetof(struct registers, vector[n]), 8, 0 }

static const struct registers_part registers_given[] = {
	PART("arguments in registers", x, x, 0), PART("x18 at the entry", x18, x18, 1), { 0 },
};
static const struct registers_part registers_results[] = { PART("the result", x[0], x[1], 0), { 0 } };
static const struct registers_part registers_kept[] = {
	PART("registers to keep", kept, kept, 0), LOW_HALF(8), LOW_HALF(9), LOW_HALF(10), LOW_HALF(11), LOW_HALF(12), LOW_HALF(13),
	LOW_HALF(14), LOW_HALF(15), { 0 },
};

/* Vectors at the entry, of which the dynamic linker keeps the first, and those of a result; bytes of each. */
enum { VECTORS = 32, VECTORS_LAZY = 8, VECTORS_RESULT = 4 };
static inline int registers_wide(void) { return 0; }
static inline size_t vector_bytes(int wide) { return (void)wide, 16; }

/* Where cudaMalloc stores. */
static inline void first_argument(struct registers *r, void *p) { r->x[0] = (unsigned long)p; }

static inline int is_aligned(const struct registers *seen) { return seen->sp % 16 == 0; }
static inline int has_direction(const struct registers *r) { return (void)r, 0; }
static inline int modes_differ(const struct registers *a, const struct registers *b) { return a->fpcr != b->fpcr; }

#endif
