/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Lanes one after another; atomic for other threads of this process, which may run other kernels, too. */
#include "atomic.h"
#include "machine.h"
#include <string.h>

static uint64_t combine(const struct insn *insn, uint64_t old, uint64_t value, uint64_t swap)
{
	unsigned size = insn->access.size;
	uint64_t keep = size == 8 ? ~0ull : (1ull << size * 8) - 1, operands[2] = { old, value }, result[ALU_RESULTS];

	value &= keep;
	switch ((enum atomic_op)insn->access.op) {
	case ATOMIC_INC: return old >= value ? 0 : old + 1;
	case ATOMIC_DEC: return !old || old > value ? value : old - 1;
	case ATOMIC_EXCH: return value;
	case ATOMIC_CAS: return old == value ? swap & keep : old;
	default:
		insn->alu.run(&insn->alu, result, operands, &(uint32_t){ 0 });
		return result[0] & keep;
	}
}

static uint64_t apply(const struct insn *insn, unsigned char *p, uint64_t value, uint64_t swap)
{
#define APPLY(type) do { \
		type *at = (void *)p, old = __atomic_load_n(at, __ATOMIC_SEQ_CST); \
		while (!__atomic_compare_exchange_n(at, &old, (type)combine(insn, old, value, swap), false, __ATOMIC_SEQ_CST, \
						    __ATOMIC_SEQ_CST)) \
			; \
		return old; \
	} while (0)
	switch (insn->access.size) {
	case 2: APPLY(uint16_t);
	case 4: APPLY(uint32_t);
	default: APPLY(uint64_t);
	}
#undef APPLY
}

/* As a load of this type would extend it. */
static uint64_t extend(uint64_t value, enum alu_type type)
{
	return type == ALU_S32 ? (uint64_t)(int32_t)value : value;
}

enum interp_fault_kind exec_atomic(struct warp *w, const struct insn *insn, uint32_t on)
{
	const struct operand *o = insn_operands(w, insn), *source = o + insn->results;
	const struct access *a = &insn->access;
	uint64_t temp[17][32], old[8][32];
	const uint64_t *value[17];
	enum interp_fault_kind kind = INTERP_OK;
	uint64_t keep = source->bits <= 32 ? 0xffffffff : ~0ull;
	unsigned cycles = LAT_ATOM;

	for (unsigned i = 0; i < insn->sources; i++)
		value[i] = operand_read(w, &source[i], temp[i]);
	for (uint32_t left = on, l; left; left &= ~(1u << l)) {
		l = memory_lane(w, left);
		struct place at = memory_at(w, l, a, (value[0][l] & keep) + (uint64_t)a->offset, a->size * a->count, "atomic",
					    &kind);

		if (!at.p)
			return kind;
		if (at.space == SPACE_SHARED)
			cycles = 2 * LAT_SHARED;
		else
			memory_latency(w, at.space, at.p, true);
		for (unsigned k = 0; k < a->count; k++)
			old[k][l] = extend(apply(insn, at.p + k * a->size, value[1 + k][l],
						 a->op == ATOMIC_CAS ? value[1 + a->count + k][l] : 0), a->type);
	}
	for (unsigned k = 0; k < insn->results; k++)
		operand_write(w, &o[k], old[k], on, cycles);
	if (w->outstanding < w->time + cycles)
		w->outstanding = w->time + cycles;
	return INTERP_OK;
}

/* cp.async: sources are the place in shared memory, that in global memory, its offset, how much of it is read. */
enum interp_fault_kind exec_copy_async(struct warp *w, const struct insn *insn, uint32_t on)
{
	const struct operand *o = insn_operands(w, insn);
	struct access to = insn->access, from = insn->access;
	enum interp_fault_kind kind = INTERP_OK;
	const uint64_t *value[4];
	uint64_t temp[4][32];

	to.space = SPACE_SHARED;
	from.space = SPACE_GLOBAL;
	for (unsigned i = 0; i < 4; i++)
		value[i] = operand_read(w, &o[i], temp[i]);
	for (uint32_t left = on; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);
		uint32_t size = (uint32_t)value[3][l] < to.size ? (uint32_t)value[3][l] : to.size;
		struct place d = memory_at(w, l, &to, (uint32_t)(value[0][l] + (uint64_t)to.offset), to.size, "write", &kind), s;

		if (!d.p)
			return kind;
		memset(d.p, 0, to.size);
		if (!size)
			continue;
		s = memory_at(w, l, &from, value[1][l] + value[2][l], to.size, "read", &kind);
		if (!s.p)
			return kind;
		memcpy(d.p, s.p, size);
		if (w->outstanding < w->time + memory_latency(w, s.space, s.p, false))
			w->outstanding = w->time + LAT_MISS;
	}
	return INTERP_OK;
}
