/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the files of matrix.h share. */
#ifndef TESTS_SIM_INTERP_MATRIX_OPS_H
#define TESTS_SIM_INTERP_MATRIX_OPS_H
#include "matrix.h"

/* Types of elements. */
enum {
	M_NONE, M_F16, M_BF16, M_TF32, M_F32, M_F64, M_E4M3, M_E5M2, M_S32, M_S8, M_U8, M_S4, M_U4, M_B1,
	M_TYPES,
};

/* Bits of an element. */
unsigned matrix_bits(unsigned type);

/* Bits of the registers that hold them: 64 for f64, else 32. */
static inline unsigned matrix_register_bits(unsigned type)
{
	return type == M_F64 ? 64 : 32;
}

/* Returns how many registers a fragment of an operand has. */
unsigned matrix_registers(const struct matrix_insn *insn, unsigned which);

/* Where element e of a lane's register is in its matrix. */
struct matrix_place {
	unsigned row, col;
};
struct matrix_place matrix_place(const struct matrix_insn *insn, unsigned which, unsigned lane, unsigned reg,
				 unsigned e);

/* Rows and columns of an operand. */
static inline unsigned matrix_rows(const struct matrix_insn *insn, unsigned which)
{
	return which == MATRIX_B ? insn->k : insn->m;
}

static inline unsigned matrix_cols(const struct matrix_insn *insn, unsigned which)
{
	return which == MATRIX_A ? insn->k : insn->n;
}

#endif
