/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Instructions of a lane's registers; branches; what does little. */
#include "machine.h"
#include <inttypes.h>
#include <string.h>

enum interp_fault_kind exec_alu(struct warp *w, const struct insn *insn, uint32_t on)
{
	const struct operand *o = insn_operands(w, insn);
	uint64_t temp[ALU_OPERANDS][32], result[ALU_RESULTS][32], operand[ALU_OPERANDS], out[ALU_RESULTS] = { 0 };
	const uint64_t *value[ALU_OPERANDS];

	for (unsigned i = 0; i < insn->sources; i++)
		value[i] = operand_read(w, &o[insn->results + i], temp[i]);
	if (insn->fast) {
		if (on == ~0u && o->kind == OPERAND_REG) {
			insn->fast(w->frame->reg[o->n], value[0], value[1], value[2]);
			w->frame->ready[o->n] = w->time + insn->cycles;
			return INTERP_OK;
		}
		insn->fast(result[0], value[0], value[1], value[2]);
	} else {
		for (uint32_t left = on; left; left &= left - 1) {
			unsigned l = (unsigned)__builtin_ctz(left);

			for (unsigned i = 0; i < insn->sources; i++)
				operand[i] = value[i][l];
			insn->alu.run(&insn->alu, out, operand, &w->carry[l]);
			for (unsigned i = 0; i < insn->results; i++)
				result[i][l] = out[i];
		}
	}
	for (unsigned i = 0; i < insn->results; i++)
		operand_write(w, &o[i], result[i], on, insn->cycles);
	return INTERP_OK;
}

enum interp_fault_kind exec_mov(struct warp *w, const struct insn *insn, uint32_t on)
{
	const struct operand *o = insn_operands(w, insn);
	uint64_t temp[32];

	operand_write(w, o, operand_read(w, o + 1, temp), on, insn->cycles);
	return INTERP_OK;
}

/* mov.b64 d, {a, b} */
enum interp_fault_kind exec_pack(struct warp *w, const struct insn *insn, uint32_t on)
{
	const struct operand *o = insn_operands(w, insn);
	uint64_t temp[32], result[32] = { 0 }, keep = (1ull << insn->mode) - 1;

	for (unsigned i = 0; i < insn->sources; i++) {
		const uint64_t *value = operand_read(w, &o[1 + i], temp);

		for (unsigned l = 0; l < 32; l++)
			result[l] |= (value[l] & keep) << i * insn->mode;
	}
	operand_write(w, o, result, on, insn->cycles);
	return INTERP_OK;
}

enum interp_fault_kind exec_unpack(struct warp *w, const struct insn *insn, uint32_t on)
{
	const struct operand *o = insn_operands(w, insn);
	uint64_t temp[32], copy[32], result[32], keep = (1ull << insn->mode) - 1;

	/* one of the results may be the source */
	memcpy(copy, operand_read(w, &o[insn->results], temp), sizeof copy);
	for (unsigned i = 0; i < insn->results; i++) {
		for (unsigned l = 0; l < 32; l++)
			result[l] = copy[l] >> i * insn->mode & keep;
		operand_write(w, &o[i], result, on, insn->cycles);
	}
	return INTERP_OK;
}

static uint64_t window_of(enum space space)
{
	return space == SPACE_SHARED ? WINDOW_SHARED : space == SPACE_LOCAL ? WINDOW_LOCAL :
		space == SPACE_ENTRY_PARAM ? WINDOW_PARAM : 0;
}

enum interp_fault_kind exec_cvta(struct warp *w, const struct insn *insn, uint32_t on)
{
	const struct operand *o = insn_operands(w, insn);
	uint64_t temp[32], result[32], window = window_of(insn->access.space);
	const uint64_t *value = operand_read(w, o + 1, temp);

	for (unsigned l = 0; l < 32; l++)
		result[l] = !window ? value[l] : insn->mode ? value[l] - window : value[l] + window;
	operand_write(w, o, result, on, LAT_ALU);
	return INTERP_OK;
}

enum interp_fault_kind exec_isspacep(struct warp *w, const struct insn *insn, uint32_t on)
{
	const struct operand *o = insn_operands(w, insn);
	uint64_t temp[32], result[32], window = window_of(insn->access.space);
	const uint64_t *value = operand_read(w, o + 1, temp);

	/* constants are global memory here */
	for (unsigned l = 0; l < 32; l++)
		result[l] = insn->access.space != SPACE_CONST && value[l] >> 56 << 56 == window;
	operand_write(w, o, result, on, LAT_ALU);
	return INTERP_OK;
}

enum interp_fault_kind exec_branch(struct warp *w, const struct insn *insn, uint32_t on)
{
	warp_branch(w, on, insn->target);
	return INTERP_OK;
}

enum interp_fault_kind exec_brx(struct warp *w, const struct insn *insn, uint32_t on)
{
	const unsigned *table = w->run->module->tables[insn->target];
	unsigned targets[32] = { 0 };
	uint64_t temp[32];
	const uint64_t *value = operand_read(w, insn_operands(w, insn), temp);

	for (uint32_t left = on; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);

		if ((uint32_t)value[l] >= table[0])
			return warp_fault(w, left, INTERP_PC, value[l], "an index of brx.idx is too large");
		targets[l] = table[1 + (uint32_t)value[l]];
	}
	warp_scatter(w, on, targets, w->depth);
	return INTERP_OK;
}

enum interp_fault_kind exec_exit(struct warp *w, const struct insn *insn, uint32_t on)
{
	(void)insn;
	warp_exit(w, on);
	return INTERP_OK;
}

/* Accesses that are not done are waited for. */
enum interp_fault_kind exec_fence(struct warp *w, const struct insn *insn, uint32_t on)
{
	(void)insn, (void)on;
	if (w->time < w->outstanding)
		w->time = w->outstanding;
	return INTERP_OK;
}

enum interp_fault_kind exec_nothing(struct warp *w, const struct insn *insn, uint32_t on)
{
	(void)w, (void)insn, (void)on;
	return INTERP_OK;
}

enum interp_fault_kind exec_trap(struct warp *w, const struct insn *insn, uint32_t on)
{
	(void)insn;
	return warp_fault(w, on, INTERP_TRAP, 0, "trap");
}

enum interp_fault_kind exec_bad(struct warp *w, const struct insn *insn, uint32_t on)
{
	(void)insn;
	return warp_fault(w, on, INTERP_INSTRUCTION, 0, "an instruction that is not known");
}

enum interp_fault_kind exec_sleep(struct warp *w, const struct insn *insn, uint32_t on)
{
	uint64_t temp[32], ns = operand_read(w, insn_operands(w, insn), temp)[__builtin_ctz(on)] & 0xffffffff;

	w->time += (ns < 1000000 ? ns : 1000000) * 3 / 2;
	w->patience = 0;		/* others get their turn */
	return INTERP_OK;
}
