/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What lanes of a warp tell each other. */
#include "shuffle.h"
#include "machine.h"
#include "warp_sync.h"

/* Waits for the lanes of the last source, if the instruction says .sync. */
static bool meet(struct warp *w, const struct insn *insn, uint32_t on)
{
	const struct operand *o = insn_operands(w, insn) + insn->results;
	uint64_t temp[32];

	return !insn->target || warp_sync(w, (uint32_t)operand_read(w, &o[insn->sources - 1], temp)[__builtin_ctz(on)], on);
}

static void spread(uint64_t *result, uint64_t value)
{
	for (unsigned l = 0; l < 32; l++)
		result[l] = value;
}

enum interp_fault_kind exec_vote(struct warp *w, const struct insn *insn, uint32_t on)
{
	const struct operand *o = insn_operands(w, insn);
	uint64_t temp[32], result[32], value = 0;
	const uint64_t *pred = operand_read(w, o + 1, temp);
	uint32_t yes = 0;

	if (!meet(w, insn, on))
		return INTERP_OK;
	for (unsigned l = 0; l < 32; l++)
		yes |= (uint32_t)(pred[l] & 1) << l;
	yes &= on;
	switch ((enum warp_mode)insn->mode) {
	case WARP_ALL: value = yes == on; break;
	case WARP_ANY: value = yes != 0; break;
	case WARP_UNI: value = yes == on || !yes; break;
	default: value = yes;
	}
	spread(result, value);
	operand_write(w, o, result, on, LAT_ALU * 2);
	return INTERP_OK;
}

enum interp_fault_kind exec_shuffle(struct warp *w, const struct insn *insn, uint32_t on)
{
	const struct operand *o = insn_operands(w, insn), *source = o + insn->results;
	uint64_t temp[3][32], result[32], valid[32];
	const uint64_t *a = operand_read(w, source, temp[0]), *b = operand_read(w, source + 1, temp[1]),
		*c = operand_read(w, source + 2, temp[2]);

	if (!meet(w, insn, on))
		return INTERP_OK;
	for (int l = 0; l < 32; l++) {
		int by = (int)(b[l] & 31), clamp = (int)(c[l] & 31), segment = (int)(c[l] >> 8 & 31);
		int low = l & segment, high = low | (clamp & ~segment), from = l;
		bool inside;

		switch ((enum warp_mode)insn->mode) {
		case WARP_UP: from = l - by; inside = from >= high; break;
		case WARP_DOWN: from = l + by; inside = from <= high; break;
		case WARP_BUTTERFLY: from = l ^ by; inside = from <= high; break;
		default: from = low | (by & ~segment); inside = from <= high;
		}
		/* what a lane that does not take part has is not defined: its own value */
		result[l] = (uint32_t)a[inside && on >> from & 1 ? from : l];
		valid[l] = inside;
	}
	operand_write(w, o, result, on, LAT_SHARED);
	if (insn->results > 1)
		operand_write(w, o + 1, valid, on, LAT_SHARED);
	return INTERP_OK;
}

enum interp_fault_kind exec_match(struct warp *w, const struct insn *insn, uint32_t on)
{
	const struct operand *o = insn_operands(w, insn);
	uint64_t temp[32], result[32] = { 0 }, all[32], keep = insn->access.type == ALU_B64 ? ~0ull : 0xffffffff;
	const uint64_t *a = operand_read(w, o + insn->results, temp);

	if (!meet(w, insn, on))
		return INTERP_OK;
	for (unsigned l = 0; l < 32; l++) {
		for (unsigned k = 0; on >> l & 1 && k < 32; k++)
			if (on >> k & 1 && !((a[k] ^ a[l]) & keep))
				result[l] |= 1ull << k;
		all[l] = (uint32_t)result[l] == on;
		if (insn->mode == WARP_ALL && !all[l])
			result[l] = 0;
	}
	operand_write(w, o, result, on, LAT_SHARED);
	if (insn->results > 1)
		operand_write(w, o + 1, all, on, LAT_SHARED);
	return INTERP_OK;
}

enum interp_fault_kind exec_reduce(struct warp *w, const struct insn *insn, uint32_t on)
{
	const struct operand *o = insn_operands(w, insn);
	uint64_t temp[32], result[32], sum[ALU_RESULTS] = { 0 };
	const uint64_t *a = operand_read(w, o + 1, temp);
	bool some = false;

	if (!meet(w, insn, on))
		return INTERP_OK;
	for (uint32_t left = on; left; left &= left - 1) {
		uint64_t both[2] = { sum[0], a[__builtin_ctz(left)] };

		if (some)
			insn->alu.run(&insn->alu, sum, both, &(uint32_t){ 0 });
		else
			sum[0] = both[1];
		some = true;
	}
	spread(result, sum[0]);
	operand_write(w, o, result, on, LAT_SHARED);
	return INTERP_OK;
}

enum interp_fault_kind exec_elect(struct warp *w, const struct insn *insn, uint32_t on)
{
	const struct operand *o = insn_operands(w, insn);
	unsigned leader = (unsigned)__builtin_ctz(on);
	uint64_t result[32], chosen[32];

	if (!meet(w, insn, on))
		return INTERP_OK;
	for (unsigned l = 0; l < 32; l++) {
		result[l] = leader;
		chosen[l] = l == leader;
	}
	operand_write(w, o, result, on, LAT_ALU);
	if (insn->results > 1)
		operand_write(w, o + 1, chosen, on, LAT_ALU);
	return INTERP_OK;
}

enum interp_fault_kind exec_activemask(struct warp *w, const struct insn *insn, uint32_t on)
{
	uint64_t result[32];

	spread(result, on);
	operand_write(w, insn_operands(w, insn), result, on, LAT_ALU);
	return INTERP_OK;
}
