/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* wmma.load.a.sync… {r, …}, [p], stride; wmma.mma.sync… {d}, {a}, {b}, {c}; ldmatrix.sync… {r, …}, [p] */
#include "load.h"
#include "machine.h"

static bool vector(struct loader *l, struct ptx_str text, enum alu_type type, int n, unsigned char *count)
{
	if (operands_vector(l, text, type) != n)
		return false;
	*count = (unsigned char)(*count + n);
	return true;
}

static bool address(struct loader *l, struct ptx_str text, struct insn *insn)
{
	static const unsigned char spaces[] = { SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED };

	insn->access.space = spaces[insn->matrix.space];
	insn->sources++;
	return operand_address(l, text, &insn->access.space, &insn->access.offset);
}

/* insn->mode: 1 if the last source is a stride. */
static bool decode_memory_of(struct loader *l, const struct ptx_insn *t, struct insn *insn)
{
	const struct matrix_insn *m = &insn->matrix;
	bool store = m->op == MATRIX_STORE || m->op == MATRIX_STMATRIX, whole = m->op <= MATRIX_STORE;
	struct operand stride;

	if (t->n < 2 || t->n > 2 + whole)
		return false;
	if (!store && !vector(l, t->arg[0], ALU_B32, m->regs[0], &insn->results))
		return false;
	if (!address(l, t->arg[store ? 0 : 1], insn))
		return false;
	if (store && !vector(l, t->arg[1], ALU_B32, m->regs[0], &insn->sources))
		return false;
	if (t->n < 3)
		return true;
	insn->mode = 1;
	insn->sources++;
	return operand_parse(l, t->arg[2], ALU_S32, &stride) && operand_add(l, stride);
}

bool decode_matrix(struct loader *l, const struct ptx_insn *t, struct insn *insn)
{
	const struct matrix_insn *m = &insn->matrix;

	if (!matrix_decode(&insn->matrix, t->op))
		return false;
	insn->exec = exec_matrix;
	switch (m->op) {
	case MATRIX_MMA:
		return t->n == 4 && vector(l, t->arg[0], ALU_B32, m->regs[MATRIX_D], &insn->results) &&
			vector(l, t->arg[1], ALU_B32, m->regs[MATRIX_A], &insn->sources) &&
			vector(l, t->arg[2], ALU_B32, m->regs[MATRIX_B], &insn->sources) &&
			vector(l, t->arg[3], ALU_B32, m->regs[MATRIX_C], &insn->sources);
	case MATRIX_MOVMATRIX:
		return t->n == 2 && vector(l, t->arg[0], ALU_B32, 1, &insn->results) &&
			vector(l, t->arg[1], ALU_B32, 1, &insn->sources);
	default:
		return decode_memory_of(l, t, insn);
	}
}
