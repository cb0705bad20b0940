/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Evaluates DWARF expressions (DWARF 5, 2.5).  Private to common/elf/cfi*.c. */
#ifndef CFI_EXPR_H
#define CFI_EXPR_H
#include "elf/cfi_block.h"

/* The frame that is left. */
struct cfi_frame {
	const struct cfi *cfi;
	const struct cfi_regs *regs;
	const struct cfi_memory *memory;
	unsigned long long offset;	/* of rip, or of rip - 1 */
	unsigned long long cfa, bad;
};

/* Reads the word at an address; CFI_UNREADABLE, with bad set, if that is not possible. */
enum cfi_step cfi_frame_read(struct cfi_frame *f, unsigned long long at, unsigned long long *word);

/* Returns a register's value; CFI_BAD if it is not known. */
enum cfi_step cfi_frame_reg(const struct cfi_frame *f, unsigned reg, unsigned long long *value);

/* Evaluates the expression of a cell, with the CFA on the stack if with_cfa is true.  Returns
 * CFI_CALLER with *result set, CFI_UNREADABLE or CFI_BAD. */
enum cfi_step cfi_expr_eval(struct cfi_frame *f, const struct cfi_cell *cell, bool with_cfa,
			    unsigned long long *result);

#endif
