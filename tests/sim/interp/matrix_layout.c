/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which elements of matrices are in which lane's registers. */
#include "matrix_ops.h"

unsigned matrix_bits(unsigned type)
{
	static const unsigned char bits[M_TYPES] = {
		[M_F16] = 16, [M_BF16] = 16, [M_TF32] = 32, [M_F32] = 32, [M_F64] = 64, [M_E4M3] = 8, [M_E5M2] = 8,
		[M_S32] = 32, [M_S8] = 8, [M_U8] = 8, [M_S4] = 4, [M_U4] = 4, [M_B1] = 1,
	};

	return bits[type];
}

static unsigned per_register(unsigned type)
{
	return matrix_register_bits(type) / matrix_bits(type);
}

/* Registers that hold each element once. */
static unsigned once(const struct matrix_insn *insn, unsigned which)
{
	unsigned elements = matrix_rows(insn, which) * matrix_cols(insn, which);

	return elements / per_register(insn->type[which]) / 32;
}

unsigned matrix_registers(const struct matrix_insn *insn, unsigned which)
{
	/* wmma's f16 factors have 8 registers whatever their shape, with elements more than once */
	if (!insn->sync && insn->type[which] == M_F16 && (which == MATRIX_A || which == MATRIX_B))
		return 8;
	return once(insn, which);
}

/* wmma: along k in a and b, so that elements of a register are neighbours; along n in c and d. */
static struct matrix_place linear(const struct matrix_insn *insn, unsigned which, unsigned lane, unsigned reg,
				  unsigned e)
{
	unsigned n = per_register(insn->type[which]);
	unsigned i = (reg % once(insn, which) * 32 + lane) * n + e;
	unsigned length = which == MATRIX_A || which == MATRIX_B ? insn->k : insn->n;

	if (which == MATRIX_B)
		return (struct matrix_place){ i % length, i / length };
	return (struct matrix_place){ i / length, i % length };
}

/* mma.sync; PTX ISA, "Matrix Fragments for mma": quads of lanes have a row of a, c and d, a column of b. */
static struct matrix_place quads(const struct matrix_insn *insn, unsigned which, unsigned lane, unsigned reg,
				 unsigned e)
{
	unsigned n = per_register(insn->type[which]), group = lane / 4, in_group = lane % 4, tall = insn->m / 8, i;

	switch (which) {
	case MATRIX_A:
		return (struct matrix_place){ group + 8 * (reg % tall), reg / tall * 4 * n + in_group * n + e };
	case MATRIX_B:
		return (struct matrix_place){ reg * 4 * n + in_group * n + e, group };
	default:
		i = reg * n + e;
		return (struct matrix_place){ group + 8 * (i / 2), in_group * 2 + i % 2 };
	}
}

struct matrix_place matrix_place(const struct matrix_insn *insn, unsigned which, unsigned lane, unsigned reg,
				 unsigned e)
{
	return insn->sync ? quads(insn, which, lane, reg, e) : linear(insn, which, lane, reg, e);
}

static int64_t element_offset(const struct matrix_insn *insn, struct matrix_place p, int64_t stride)
{
	return insn->col ? p.row + p.col * stride : p.row * stride + p.col;
}

/* Neighbours in memory that are neighbours in a register are one piece. */
unsigned matrix_pieces(const struct matrix_insn *insn, unsigned lane, int64_t stride, struct matrix_piece *piece)
{
	unsigned which = insn->which, bits = matrix_bits(insn->type[which]), n = 0;
	unsigned per = per_register(insn->type[which]);

	if (stride == 0)
		stride = insn->col ? matrix_rows(insn, which) : matrix_cols(insn, which);
	for (unsigned reg = 0; reg < insn->regs[0]; reg++) {
		int64_t first = element_offset(insn, matrix_place(insn, which, lane, reg, 0), stride), second = first;

		if (per > 1)
			second = element_offset(insn, matrix_place(insn, which, lane, reg, 1), stride);
		if (per == 1 || second == first + 1) {
			piece[n++] = (struct matrix_piece){ first * bits / 8, per * bits / 8, reg, 0 };
			continue;
		}
		for (unsigned e = 0; e < per; e++) {
			struct matrix_place p = matrix_place(insn, which, lane, reg, e);

			piece[n++] = (struct matrix_piece){ element_offset(insn, p, stride) * bits / 8, bits / 8, reg,
							    e * bits };
		}
	}
	return n;
}

/* Of an 8 by 8 matrix of 16 bits, four lanes have a row, two elements each; of a transposed one a column. */
void matrix_from_rows(const struct matrix_insn *insn, uint64_t (*d)[32], const uint16_t (*row)[8])
{
	for (unsigned reg = 0; reg < insn->regs[0]; reg++)
		for (unsigned lane = 0; lane < 32; lane++) {
			unsigned i = lane / 4, j = lane % 4 * 2;

			if (insn->transpose)
				d[reg][lane] = row[reg * 8 + j][i] | (uint64_t)row[reg * 8 + j + 1][i] << 16;
			else
				d[reg][lane] = row[reg * 8 + i][j] | (uint64_t)row[reg * 8 + i][j + 1] << 16;
		}
}

void matrix_to_rows(const struct matrix_insn *insn, uint16_t (*row)[8], const uint64_t (*s)[32])
{
	for (unsigned reg = 0; reg < insn->regs[0]; reg++)
		for (unsigned lane = 0; lane < 32; lane++)
			for (unsigned e = 0; e < 2; e++) {
				unsigned i = lane / 4, j = lane % 4 * 2 + e;
				uint16_t v = (uint16_t)(s[reg][lane] >> e * 16);

				if (insn->transpose)
					row[reg * 8 + j][i] = v;
				else
					row[reg * 8 + i][j] = v;
			}
}

void matrix_move(uint64_t *d, const uint64_t *s)
{
	struct matrix_insn insn = { .regs = { 1 } };
	uint16_t row[8][8];

	matrix_to_rows(&insn, row, (const uint64_t (*)[32])s);
	insn.transpose = true;
	matrix_from_rows(&insn, (uint64_t (*)[32])d, (const uint16_t (*)[8])row);
}
