/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* How struct cfi is laid out.  Private to common/elf/cfi*.c. */
#ifndef ELF_CFI_BLOCK_H
#define ELF_CFI_BLOCK_H
#include "elf/cfi.h"

enum { CFI_NO_RULE = -1 };

enum cfi_kind {
	/* a rule: the CFA */
	CFI_CFA,		/* register + value */
	CFI_CFA_EXPR,		/* value: the expression */
	/* a register, if it does not have its default: below */
	CFI_UNDEFINED,
	CFI_SAME,
	CFI_SAVED,		/* at CFA + value */
	CFI_VALUE,		/* is CFA + value */
	CFI_REGISTER,		/* is in register number value */
	CFI_SAVED_EXPR,		/* value: the expression of the place */
	CFI_VALUE_EXPR,
};

/* A rule is a cell for the CFA, followed by those of the registers, in order of their numbers.
 * Registers without one have the default: a return address that calls push is at CFA - 8, the stack pointer is the
 * CFA, those that functions preserve are the same, others undefined. */
struct cfi_cell {
	unsigned char kind, reg;
	unsigned char n;	/* of a rule: cells that follow */
	unsigned char nops;	/* of an expression */
	int value;		/* of an expression: index of the first operation */
};

struct cfi_op {
	unsigned short atom;
	unsigned short target;	/* of DW_OP_bra and DW_OP_skip: the operation in the expression */
	unsigned int reg;	/* of DW_OP_bregx */
	long long number;
};

struct cfi_row {
	unsigned int from;	/* offset in the function */
	int rule;		/* index of the cell; CFI_NO_RULE if it is not known */
};

struct cfi {
	unsigned long long start, end;	/* file offsets */
	unsigned long long shift;	/* address - file offset */
	unsigned int nops, nrows, ncells;
	bool signal;
	/* ops, rows, cells */
};

static inline struct cfi_op *cfi_ops(const struct cfi *c)
{
	return (struct cfi_op *)(c + 1);
}

static inline struct cfi_row *cfi_rows(const struct cfi *c)
{
	return (struct cfi_row *)(cfi_ops(c) + c->nops);
}

static inline struct cfi_cell *cfi_cells(const struct cfi *c)
{
	return (struct cfi_cell *)(cfi_rows(c) + c->nrows);
}

/* Returns the default cell of a register. */
struct cfi_cell cfi_default(unsigned reg);

/* Returns the rule of the row that this offset is in; NULL if it is not known. */
const struct cfi_cell *cfi_rule_at(const struct cfi *c, unsigned long long offset);

/* Returns the register's cell in a rule. */
struct cfi_cell cfi_cell_of(const struct cfi_cell *rule, unsigned reg);

#endif
