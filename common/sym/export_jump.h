/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The exports of libcuda.so jump to code that has no names, so that they are on no call stack:
 *	cmpl $imm, mem; je +12; jmp *slot
 * where the slot has the address of the code. */
#ifndef SYM_EXPORT_JUMP_H
#define SYM_EXPORT_JUMP_H
#include <stdbool.h>

struct stack;

/* Returns the name of the export for which wanted() returns true and that jumps to the function of frame
 * i, in the process that the stack is of; NULL if there is none.  Valid as long as the stack's struct
 * syms. */
const char *export_jump(const struct stack *stack, int pid, int i,
			bool (*wanted)(const void *ctx, const char *name), const void *ctx);

#endif
