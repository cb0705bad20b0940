/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Products of matrices.  Where a GPU adds products of small formats with a few more bits than they have, here the sum
 * is a double's, rounded once; f64 is multiplied and added in the order of k. */
#include "matrix_ops.h"
#include "alu_format.h"
#include "alu_ops.h"

enum { MOST = 16 * 256 };	/* elements of a or b: m16n8k256 */

struct matrices {
	double x[2][MOST];		/* a by rows, b by columns */
	int64_t i[2][MOST];
	uint64_t c[16 * 16];
};

static bool is_int(unsigned type)
{
	return type >= M_S32;
}

static double number(unsigned type, uint64_t bits)
{
	switch (type) {
	case M_F16: return alu_unpack(&alu_half, bits);
	case M_BF16: return alu_unpack(&alu_bfloat, bits);
	case M_TF32: return alu_unpack(&alu_tf32, bits & UINT32_MAX);
	case M_E4M3: return alu_unpack(&alu_e4m3, bits);
	case M_E5M2: return alu_unpack(&alu_e5m2, bits);
	case M_F64: return alu_f64(bits);
	default: return alu_f32(bits);
	}
}

static int64_t integer(unsigned type, uint64_t bits)
{
	unsigned width = matrix_bits(type);

	if (type == M_S32 || type == M_S8 || type == M_S4)
		return (int64_t)alu_sign_extend(width, bits);
	return (int64_t)alu_zero_extend(width, bits);
}

static uint64_t element(unsigned type, uint64_t reg, unsigned e)
{
	return alu_zero_extend(matrix_bits(type), reg >> e * matrix_bits(type));
}

/* Takes a fragment's elements to their places. */
static void gather(const struct matrix_insn *insn, unsigned which, const uint64_t (*reg)[32], struct matrices *all)
{
	unsigned type = insn->type[which], per = matrix_register_bits(type) / matrix_bits(type);

	for (unsigned r = 0; r < insn->regs[which]; r++)
		for (unsigned lane = 0; lane < 32; lane++)
			for (unsigned e = 0; e < per; e++) {
				struct matrix_place p = matrix_place(insn, which, lane, r, e);
				uint64_t v = element(type, reg[r][lane], e);

				if (which == MATRIX_C)
					all->c[p.row * insn->n + p.col] = v;
				else if (which == MATRIX_A && is_int(type))
					all->i[0][p.row * insn->k + p.col] = integer(type, v);
				else if (which == MATRIX_A)
					all->x[0][p.row * insn->k + p.col] = number(type, v);
				else if (is_int(type))
					all->i[1][p.col * insn->k + p.row] = integer(type, v);
				else
					all->x[1][p.col * insn->k + p.row] = number(type, v);
			}
}

static uint64_t sum_ints(const struct matrix_insn *insn, const int64_t *a, const int64_t *b, uint64_t c)
{
	int64_t sum = (int32_t)c;

	for (unsigned k = 0; k < insn->k; k++) {
		if (insn->type[MATRIX_A] != M_B1)
			sum += a[k] * b[k];
		else
			sum += insn->exclusive_or ? a[k] ^ b[k] : a[k] & b[k];
	}
	if (insn->saturate)
		sum = alu_clamp(sum, INT32_MIN, INT32_MAX);
	return (uint32_t)sum;
}

static uint64_t sum_floats(const struct matrix_insn *insn, const double *a, const double *b, uint64_t c)
{
	double sum = number(insn->type[MATRIX_C], c);
	bool wide = insn->type[MATRIX_A] == M_F64;

	for (unsigned k = 0; k < insn->k; k++)
		sum = wide ? fma(a[k], b[k], sum) : sum + a[k] * b[k];
	switch (insn->type[MATRIX_D]) {
	case M_F64: return alu_out64(sum);
	case M_F16: return alu_round_to(&alu_half, sum, ALU_RN);
	default: return alu_round_to(&alu_single, sum, ALU_RN);
	}
}

static void scatter(const struct matrix_insn *insn, uint64_t (*d)[32], const struct matrices *all)
{
	unsigned type = insn->type[MATRIX_D], per = matrix_register_bits(type) / matrix_bits(type);

	for (unsigned r = 0; r < insn->regs[MATRIX_D]; r++)
		for (unsigned lane = 0; lane < 32; lane++) {
			d[r][lane] = 0;
			for (unsigned e = 0; e < per; e++) {
				struct matrix_place p = matrix_place(insn, MATRIX_D, lane, r, e);

				d[r][lane] |= all->c[p.row * insn->n + p.col] << e * matrix_bits(type);
			}
		}
}

void matrix_mma(const struct matrix_insn *insn, uint64_t (*d)[32], const uint64_t (*a)[32], const uint64_t (*b)[32],
		const uint64_t (*c)[32])
{
	struct matrices all;

	gather(insn, MATRIX_A, a, &all);
	gather(insn, MATRIX_B, b, &all);
	gather(insn, MATRIX_C, c, &all);
	for (unsigned row = 0; row < insn->m; row++)
		for (unsigned col = 0; col < insn->n; col++) {
			uint64_t *cell = &all.c[row * insn->n + col];

			if (is_int(insn->type[MATRIX_A]))
				*cell = sum_ints(insn, all.i[0] + row * insn->k, all.i[1] + col * insn->k, *cell);
			else
				*cell = sum_floats(insn, all.x[0] + row * insn->k, all.x[1] + col * insn->k, *cell);
		}
	scatter(insn, d, &all);
}
