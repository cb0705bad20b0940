/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What nofp knows of its own stack.  Each function of it that can be on the stack of a call keeps its
 * return address in a chain, which is written down in the function that makes the call: names and
 * addresses that owe nothing to frame pointers, unwind tables or an unwinder.
 */
#ifndef TESTS_WORKLOADS_NOFP_H
#define TESTS_WORKLOADS_NOFP_H
#include <stddef.h>

struct level {
	const char *sym;
	const void *start, *ret;	/* ret NULL: not known */
	const struct level *outer;
};

extern __thread const struct level *innermost;

/* a level is taken out again before its function returns */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC diagnostic ignored "-Wdangling-pointer"
#endif

/* At a function's beginning; LEAVE where it returns.  A pointer to func must not make it global. */
#define ENTER(func) \
	struct level level_ = { #func, (const void *)func, __builtin_return_address(0), innermost }; \
	innermost = &level_
#define LEAVE (innermost = level_.outer)

/* Around a call of a function that has no chain: it is the next one on the stack. */
#define ENTER_OTHER(func, at) \
	struct level other_ = { func, (const void *)(at), NULL, innermost }; \
	innermost = &other_
#define LEAVE_OTHER (innermost = other_.outer)

/* No copies, no inlining, no tail calls into it. */
#ifdef __clang__
#define FRAME __attribute__((noinline))
#else
#define FRAME __attribute__((noipa))
#endif

/* Makes the call of the case that runs: cudaMalloc of a size that no other call has.  The truth about
 * it goes to standard output before, a JSON object on a line. */
int allocate(void);

typedef int (*call_fn)(void);

/* arch/ARCH/tests/nofp_asm.S: call fn, and return what it does */
int asm_cfa(call_fn fn);	/* CFA from a preserved register, on a realigned stack */
int asm_expression(call_fn fn);	/* CFA from an expression that reads the stack */
int asm_frame(call_fn fn);	/* frame pointer saved where an expression says, and spoilt */
int asm_register(call_fn fn);	/* frame pointer saved in another register, and spoilt */
int asm_moves(call_fn fn);	/* CFA moves with each push, and is remembered and restored */
int asm_silent(call_fn fn);	/* no CFI */
int asm_lie(call_fn fn);	/* CFI that finds the caller 12 KiB up the stack */

int trap_first(void);	/* SIGILL at its first instruction, of TRAP_SIZE bytes ("tests/trap.h") */

#endif
