/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Instructions on matrices that a warp's registers hold: wmma.load, wmma.store, wmma.mma, mma.sync, ldmatrix,
 * stmatrix, movmatrix.  A whole warp; reg[i][lane] is the i-th register of an operand.
 *
 * Fragments of mma.sync, ldmatrix and movmatrix are laid out as PTX ISA says; those of wmma, which it leaves open, row
 * by row over the lanes, whatever the layout in memory. */
#ifndef TESTS_SIM_INTERP_MATRIX_H
#define TESTS_SIM_INTERP_MATRIX_H
#include "ptx/ptx.h"
#include <stdbool.h>
#include <stdint.h>

enum matrix_op { MATRIX_LOAD, MATRIX_STORE, MATRIX_MMA, MATRIX_LDMATRIX, MATRIX_STMATRIX, MATRIX_MOVMATRIX };
enum matrix_space { MATRIX_GENERIC, MATRIX_GLOBAL, MATRIX_SHARED };
enum { MATRIX_D, MATRIX_A, MATRIX_B, MATRIX_C };

struct matrix_insn {
	unsigned char op, space;
	/* Registers of each operand: MATRIX_D … MATRIX_C of an mma; else regs[0] of the one vector, which is the
	 * result of a load and the operand of a store; movmatrix has one and one. */
	unsigned char regs[4];
	/* matrix.c's own: rows and columns, types of elements, the operand that a load is of, its layout … */
	unsigned char m, n, type[4], which;
	unsigned short k;
	bool col, sync, saturate, exclusive_or, transpose;
};

/* Decodes "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"; false if it is not known. */
bool matrix_decode(struct matrix_insn *insn, struct ptx_str op);

/* A part of a matrix in memory that is a part of one of a lane's registers. */
struct matrix_piece {
	int64_t offset;			/* bytes from the matrix's address */
	unsigned char size;		/* bytes: 1, 2, 4, 8 */
	unsigned char reg, shift;	/* bits */
};
enum { MATRIX_PIECES = 16 };

/* Fills the pieces that a lane loads or stores (MATRIX_LOAD, MATRIX_STORE), and returns how many there are.  stride is
 * in elements; 0 where the text has none. */
unsigned matrix_pieces(const struct matrix_insn *insn, unsigned lane, int64_t stride, struct matrix_piece *piece);

/* MATRIX_MMA: d = a * b + c. */
void matrix_mma(const struct matrix_insn *insn, uint64_t (*d)[32], const uint64_t (*a)[32], const uint64_t (*b)[32],
		const uint64_t (*c)[32]);

/* MATRIX_LDMATRIX and MATRIX_STMATRIX: row i of all matrices together (8 * regs[0] of them) is 16 bytes at the address
 * that lane i has. */
void matrix_from_rows(const struct matrix_insn *insn, uint64_t (*d)[32], const uint16_t (*row)[8]);
void matrix_to_rows(const struct matrix_insn *insn, uint16_t (*row)[8], const uint64_t (*s)[32]);
/* MATRIX_MOVMATRIX: transposes. */
void matrix_move(uint64_t *d, const uint64_t *s);

#endif
