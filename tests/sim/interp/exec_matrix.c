/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Instructions that all lanes of a warp do together. */
#include "machine.h"
#include "warp_sync.h"
#include <string.h>

enum { LAT_MATRIX = 32 };

/* What a load or store of all lanes is doing. */
struct transfer {
	struct warp *warp;
	const struct insn *insn;
	bool store;
	unsigned latency;
	enum interp_fault_kind kind;
};

static unsigned char *memory(struct transfer *t, unsigned lane, uint64_t addr, unsigned size)
{
	struct place at = memory_at(t->warp, lane, &t->insn->access, addr, size, t->store ? "write" : "read", &t->kind);
	unsigned takes;

	if (!at.p)
		return NULL;
	if (t->store && (at.space == SPACE_CONST || at.space == SPACE_ENTRY_PARAM)) {
		t->kind = warp_fault(t->warp, 1u << lane, INTERP_ADDRESS, addr, "a write to constant memory");
		return NULL;
	}
	takes = memory_latency(t->warp, at.space, at.p, false);
	t->latency = takes > t->latency ? takes : t->latency;
	return at.p;
}

/* The addresses that lanes have: a 32-bit register has the low half. */
static uint64_t address(const struct insn *insn, const struct operand *base, const uint64_t *value, unsigned lane)
{
	uint64_t keep = base->bits <= 32 ? 0xffffffff : ~0ull;

	return (value[lane] & keep) + (uint64_t)insn->access.offset;
}

/* wmma.load and wmma.store: the parts of the matrix that a lane's registers have. */
static bool pieces(struct transfer *t, unsigned lane, uint64_t addr, int64_t stride, uint64_t (*reg)[32])
{
	struct matrix_piece piece[MATRIX_PIECES];
	unsigned n = matrix_pieces(&t->insn->matrix, lane, stride, piece);

	for (unsigned i = 0; !t->store && i < t->insn->matrix.regs[0]; i++)
		reg[i][lane] = 0;
	for (unsigned i = 0; i < n; i++) {
		const struct matrix_piece *p = &piece[i];
		unsigned char *at = memory(t, lane, addr + (uint64_t)p->offset, p->size);
		uint64_t v = reg[p->reg][lane] >> p->shift;

		if (!at)
			return false;
		if (t->store) {
			memcpy(at, &v, p->size);
		} else {
			v = 0;
			memcpy(&v, at, p->size);
			reg[p->reg][lane] |= v << p->shift;
		}
	}
	return true;
}

/* ldmatrix and stmatrix: each row is where a lane says. */
static bool rows(struct transfer *t, const struct operand *base, const uint64_t *addr, uint64_t (*reg)[32])
{
	const struct matrix_insn *m = &t->insn->matrix;
	uint16_t row[32][8];

	if (t->store)
		matrix_to_rows(m, row, (const uint64_t (*)[32])reg);
	for (unsigned i = 0; i < 8u * m->regs[0]; i++) {
		unsigned char *at = memory(t, i, address(t->insn, base, addr, i), sizeof row[i]);

		if (!at)
			return false;
		if (t->store)
			memcpy(at, row[i], sizeof row[i]);
		else
			memcpy(row[i], at, sizeof row[i]);
	}
	if (!t->store)
		matrix_from_rows(m, reg, (const uint16_t (*)[8])row);
	return true;
}

static void read_all(const struct warp *w, const struct operand *o, unsigned n, uint64_t (*value)[32])
{
	uint64_t temp[32];

	for (unsigned i = 0; i < n; i++)
		memcpy(value[i], operand_read(w, &o[i], temp), sizeof value[i]);
}

static enum interp_fault_kind exec_transfer(struct warp *w, const struct insn *insn)
{
	const struct operand *o = insn_operands(w, insn), *base = o + insn->results;
	const struct matrix_insn *m = &insn->matrix;
	struct transfer t = { w, insn, m->op == MATRIX_STORE || m->op == MATRIX_STMATRIX, 0, INTERP_OK };
	uint64_t reg[8][32], addr[1][32], stride[1][32] = { 0 };

	read_all(w, base, 1, addr);
	if (t.store)
		read_all(w, base + 1, m->regs[0], reg);
	if (insn->mode)
		read_all(w, base + insn->sources - 1, 1, stride);
	if (m->op > MATRIX_STORE) {
		if (!rows(&t, base, addr[0], reg))
			return t.kind;
	} else {
		for (unsigned l = 0; l < 32; l++)
			if (!pieces(&t, l, address(insn, base, addr[0], l), (int32_t)stride[0][l], reg))
				return t.kind;
	}
	for (unsigned i = 0; i < insn->results; i++)
		operand_write(w, &o[i], reg[i], UINT32_MAX, t.latency);
	if (w->outstanding < w->time + t.latency)
		w->outstanding = w->time + t.latency;
	return INTERP_OK;
}

enum interp_fault_kind exec_matrix(struct warp *w, const struct insn *insn, uint32_t on)
{
	const struct operand *o = insn_operands(w, insn), *source = o + insn->results;
	const struct matrix_insn *m = &insn->matrix;
	uint64_t value[24][32], d[8][32];

	if (w->alive != UINT32_MAX)
		return warp_fault(w, on, INTERP_INSTRUCTION, 0, "a matrix instruction without all lanes of its warp");
	if (!warp_sync(w, UINT32_MAX, on))
		return INTERP_OK;
	if (m->op != MATRIX_MMA && m->op != MATRIX_MOVMATRIX)
		return exec_transfer(w, insn);
	read_all(w, source, insn->sources, value);
	if (m->op == MATRIX_MOVMATRIX)
		matrix_move(d[0], value[0]);
	else
		matrix_mma(m, d, (const uint64_t (*)[32])value, (const uint64_t (*)[32])value + m->regs[MATRIX_A],
			   (const uint64_t (*)[32])value + m->regs[MATRIX_A] + m->regs[MATRIX_B]);
	for (unsigned i = 0; i < insn->results; i++)
		operand_write(w, &o[i], d[i], UINT32_MAX, LAT_MATRIX);
	return INTERP_OK;
}
