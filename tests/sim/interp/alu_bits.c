/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Logic, shifts, and bytes in any order. */
#include "alu_ops.h"

#define OP(name) static void name(const struct alu_insn *insn, uint64_t *d, const uint64_t *s, \
				  uint32_t *carry __attribute__((unused)))

OP(and)
{
	d[0] = alu_fit(insn->type, s[0] & s[1]);
}

OP(or)
{
	d[0] = alu_fit(insn->type, s[0] | s[1]);
}

OP(xor)
{
	d[0] = alu_fit(insn->type, s[0] ^ s[1]);
}

OP(not)
{
	d[0] = alu_fit(insn->type, ~s[0]);
}

OP(cnot)
{
	d[0] = alu_fit(insn->type, s[0]) == 0;
}

/* Bit 4a + 2b + c of the table is the result for those bits. */
static uint32_t lookup(const uint64_t *s)
{
	uint32_t r = 0;

	for (unsigned i = 0; i < 8; i++)
		if (s[3] >> i & 1)
			r |= (uint32_t)((i & 4 ? s[0] : ~s[0]) & (i & 2 ? s[1] : ~s[1]) & (i & 1 ? s[2] : ~s[2]));
	return r;
}

OP(lop3)
{
	(void)insn;
	d[0] = lookup(s);
}

OP(lop3_pred)
{
	d[0] = lookup(s);
	d[1] = insn->boolop == ALU_AND ? (d[0] != 0) & s[4] : (d[0] != 0) | (s[4] & 1);
}

static bool and_or(struct alu_insn *insn, const struct alu_words *words)
{
	return words->types == 1 && insn->boolop != ALU_XOR;
}

/* Amounts are 32 bits whatever the type, and clamped to its width. */
OP(shl)
{
	uint32_t n = (uint32_t)s[1];

	d[0] = n < alu_widths[insn->type] ? alu_fit(insn->type, s[0] << n) : 0;
}

OP(shr)
{
	uint32_t n = (uint32_t)s[1];
	uint64_t a = alu_fit(insn->type, s[0]);

	if (alu_signed(insn->type))
		d[0] = (uint64_t)((int64_t)a >> (n < 63 ? n : 63));
	else
		d[0] = n < 64 ? a >> n : 0;
}

OP(shf)
{
	uint64_t pair = (s[0] & UINT32_MAX) | s[1] << 32;
	uint32_t n = (uint32_t)s[2];

	n = insn->flags & ALU_WRAP ? n & 31 : n < 32 ? n : 32;
	d[0] = (uint32_t)(insn->flags & ALU_LEFT ? pair << n >> 32 : pair >> n);
}

static bool left_or_right(struct alu_insn *insn, const struct alu_words *words)
{
	return words->types == 1 && !(insn->flags & ALU_LEFT) != !(insn->flags & ALU_RIGHT) &&
		!(insn->flags & ALU_WRAP) != !(insn->flags & ALU_CLAMP);
}

static const char *const prmt_modes[] = { "f4e", "b4e", "rc8", "ecl", "ecr", "rc16", NULL };

/* The selector of result byte i in each mode; PTX ISA, prmt. */
static unsigned prmt_pick(unsigned mode, unsigned select, unsigned i)
{
	unsigned at = select & 3;

	switch (mode) {
	case 1: return at + i;
	case 2: return (at - i) & 7;
	case 3: return at;
	case 4: return i > at ? i : at;
	case 5: return i < at ? i : at;
	case 6: return (at & 1) * 2 + (i & 1);
	default: return select >> i * 4 & 15;
	}
}

OP(prmt)
{
	uint64_t pair = (s[0] & UINT32_MAX) | s[1] << 32;

	d[0] = 0;
	for (unsigned i = 0; i < 4; i++) {
		unsigned pick = prmt_pick(insn->mode, (uint32_t)s[2], i);
		uint64_t byte = pair >> (pick & 7) * 8 & 0xff;

		if (pick & 8)
			byte = byte & 0x80 ? 0xff : 0;
		d[0] |= byte << i * 8;
	}
}

OP(selp)
{
	d[0] = alu_fit(insn->type, s[2] & 1 ? s[0] : s[1]);
}

#define LOGIC (ALU_BITS | T(PRED))

const struct alu_row alu_bit_rows[] = {
	{ "and", and, "t:tt", .types = LOGIC },
	{ "or", or, "t:tt", .types = LOGIC },
	{ "xor", xor, "t:tt", .types = LOGIC },
	{ "not", not, "t:t", .types = LOGIC },
	{ "cnot", cnot, "t:t", .types = ALU_BITS },
	{ "lop3", lop3, "t:tttt", .types = T(B32) },
	{ "lop3", lop3_pred, "tp:ttttp", .types = T(B32), .boolop = true, .check = and_or },
	{ "shl", shl, "t:tu", .types = ALU_BITS },
	{ "shr", shr, "t:tu", .types = ALU_BITS | ALU_INTS },
	{ "shf", shf, "t:ttu", .types = T(B32), .may = ALU_LEFT | ALU_RIGHT | ALU_WRAP | ALU_CLAMP,
	  .check = left_or_right },
	{ "prmt", prmt, "t:ttt", .types = T(B32), .modes = prmt_modes },
	{ "selp", selp, "t:ttp", .types = ALU_BITS | ALU_INTS | T(F32) | T(F64) },
	{ 0 },
};
