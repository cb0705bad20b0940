/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Barriers in shared memory: mbarrier, and the copies that arrive at them.  A barrier's 64 bits, which programs cannot
 * know: arrivals that are pending, those of a phase, bytes that are to come, the phase. */
#include "load.h"
#include "machine.h"
#include "modifiers.h"
#include <string.h>

enum mode { INIT, INVAL, ARRIVE, ARRIVE_DROP, EXPECT_TX, COMPLETE_TX, TEST_WAIT, TRY_WAIT, PENDING_COUNT };
enum { WITH_TX = 1, PARITY = 2 };
enum { LAT_WAIT = 20 };

struct bits {
	uint64_t pending : 20, expected : 20;
	int64_t tx : 23;
	uint64_t phase : 1;
};

static const char *const mode_names[] = { "init", "inval", "arrive", "arrive_drop", "expect_tx", "complete_tx", "test_wait",
					  "try_wait", "pending_count", NULL };
static const char *const others[] = { "shared", "shared::cta", "shared::cluster", "b64", "release", "acquire", "relaxed", "cta",
				      "cluster", "noComplete", NULL };

static bool value(struct loader *l, const struct ptx_insn *t, int i, enum alu_type type, uint64_t absent, struct insn *insn)
{
	struct operand o;

	insn->sources++;
	return (i < t->n ? operand_parse(l, t->arg[i], type, &o) : operand_constant(l, absent, &o)) && operand_add(l, o);
}

bool decode_mbarrier(struct loader *l, const struct ptx_insn *t, struct insn *insn)
{
	struct modifiers m = modifiers_of(t->op);
	struct ptx_str word;
	struct operand o;
	int mode = -1, at = 0;
	bool result;

	modifiers_next(&m, &word);
	while (modifiers_next(&m, &word)) {
		int found = modifiers_find(word, mode_names);

		if (found == EXPECT_TX && mode >= ARRIVE)
			insn->target |= WITH_TX;
		else if (found >= 0 && mode < 0)
			mode = found;
		else if (ptx_str_is(word, "parity"))
			insn->target |= PARITY;
		else if (modifiers_find(word, others) < 0)
			return false;
		if (word.n >= 6 && !memcmp(word.s, "shared", 6))
			insn->access.space = SPACE_SHARED;
	}
	if (mode < 0 || !t->n)
		return false;
	insn->mode = (unsigned char)mode;
	insn->exec = exec_mbarrier;
	/* what arrives at a barrier of another block has no state */
	result = mode >= TEST_WAIT || ((mode == ARRIVE || mode == ARRIVE_DROP) && *t->arg[0].s != '[');
	if (result) {
		if (!operand_parse(l, t->arg[at++], ALU_B64, &o) || !operand_add(l, o))
			return false;
		insn->results = 1;
	}
	if (mode == PENDING_COUNT)
		return value(l, t, at, ALU_B64, 0, insn);
	if (at >= t->n || !operand_address(l, t->arg[at++], &insn->access.space, &insn->access.offset))
		return false;
	insn->sources = 1;
	return value(l, t, at, ALU_B64, 1, insn) && t->n <= at + 1 + (mode == TRY_WAIT);
}

/* A phase ends when all have arrived, and all bytes. */
static void settle(struct bits *b)
{
	if (b->pending || b->tx)
		return;
	b->phase ^= 1;
	b->pending = b->expected;
}

static uint64_t whole(const struct bits *b)
{
	uint64_t all;

	memcpy(&all, b, sizeof all);
	return all;
}

/* Returns the result. */
static uint64_t apply(const struct insn *insn, struct bits *b, uint64_t operand)
{
	uint64_t before = whole(b), count = insn->target & WITH_TX ? 1 : (uint32_t)operand;
	struct bits token;

	memcpy(&token, &operand, sizeof token);
	switch ((enum mode)insn->mode) {
	case INIT:
		*b = (struct bits){ .pending = (uint32_t)operand & 0xfffff, .expected = (uint32_t)operand & 0xfffff };
		break;
	case INVAL:
		*b = (struct bits){ .pending = 0 };
		break;
	case ARRIVE:
	case ARRIVE_DROP:
		if (insn->target & WITH_TX)
			b->tx += (int32_t)operand;
		b->pending -= count < b->pending ? count : b->pending;
		if (insn->mode == ARRIVE_DROP)
			b->expected -= count < b->expected ? count : b->expected;
		settle(b);
		break;
	case EXPECT_TX:
		b->tx += (int32_t)operand;
		break;
	case COMPLETE_TX:
		b->tx -= (int32_t)operand;
		settle(b);
		break;
	default:
		return b->phase != (insn->target & PARITY ? operand & 1 : token.phase);
	}
	return before;
}

enum interp_fault_kind exec_mbarrier(struct warp *w, const struct insn *insn, uint32_t on)
{
	const struct operand *o = insn_operands(w, insn), *source = o + insn->results;
	uint64_t temp[2][32], result[32];
	const uint64_t *address = operand_read(w, source, temp[0]), *operand;
	enum interp_fault_kind kind = INTERP_OK;

	operand = insn->sources > 1 ? operand_read(w, source + 1, temp[1]) : address;
	for (uint32_t left = on; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);
		struct bits bits;
		struct place at;

		if (insn->mode == PENDING_COUNT) {
			memcpy(&bits, &operand[l], sizeof bits);
			result[l] = bits.pending;
			continue;
		}
		at = memory_at(w, l, &insn->access, (source->bits <= 32 ? (uint32_t)address[l] : address[l]) +
			       (uint64_t)insn->access.offset, 8, "barrier", &kind);
		if (!at.p)
			return kind;
		memcpy(&bits, at.p, sizeof bits);
		result[l] = apply(insn, &bits, operand[l]);
		memcpy(at.p, &bits, sizeof bits);
	}
	if (insn->mode == TRY_WAIT)
		w->time += LAT_WAIT;
	if (insn->results)
		operand_write(w, o, result, on, LAT_SHARED);
	return INTERP_OK;
}

/* cp.async.mbarrier.arrive{.noinc}: copies are done at once, so that this is an arrival, or one more that has arrived. */
bool decode_async_arrive(struct loader *l, const struct ptx_insn *t, struct insn *insn)
{
	bool none = !ptx_has(t->op, ".noinc");

	insn->access.space = ptx_has(t->op, ".shared") || ptx_has(t->op, ".shared::cta") ? SPACE_SHARED : SPACE_GENERIC;
	insn->mode = ARRIVE;
	insn->exec = exec_mbarrier;
	if (t->n != 1 || !operand_address(l, t->arg[0], &insn->access.space, &insn->access.offset))
		return false;
	insn->sources = 1;
	return value(l, t, 1, ALU_B64, !none, insn);
}
