/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Products of integers. */
#include "alu_ops.h"

#define OP(name) static void name(const struct alu_insn *insn, uint64_t *d, const uint64_t *s, \
				  uint32_t *carry __attribute__((unused)))

static unsigned __int128 product(const struct alu_insn *insn, const uint64_t *s)
{
	uint64_t a = alu_fit(insn->type, s[0]), b = alu_fit(insn->type, s[1]);

	if (alu_signed(insn->type))
		return (unsigned __int128)((__int128)(int64_t)a * (int64_t)b);
	return (unsigned __int128)a * b;
}

/* Returns the half that .lo or .hi asks for, or with .wide all of it; what is above is arbitrary. */
static uint64_t part(const struct alu_insn *insn, const uint64_t *s)
{
	return (uint64_t)(product(insn, s) >> (insn->flags & ALU_HI ? alu_widths[insn->type] : 0));
}

OP(mul)
{
	d[0] = alu_fit(insn->out[0], part(insn, s));
}

OP(mad)
{
	d[0] = alu_fit(insn->out[0], part(insn, s) + s[2]);
}

OP(mad_sat)
{
	int64_t high = (int32_t)part(insn, s);

	d[0] = (uint64_t)alu_clamp(high + (int32_t)s[2], INT32_MIN, INT32_MAX);
}

/* insn->op says that the carry is read. */
OP(mad_carry)
{
	unsigned bits = alu_widths[insn->type];
	unsigned __int128 sum = (unsigned __int128)alu_zero_extend(bits, part(insn, s)) + alu_zero_extend(bits, s[2]);

	sum += insn->op ? *carry : 0;
	d[0] = alu_fit(insn->type, (uint64_t)sum);
	if (insn->flags & ALU_CC)
		*carry = sum >> bits & 1;
}

static uint64_t product24(const struct alu_insn *insn, const uint64_t *s)
{
	uint64_t p;

	if (insn->type == ALU_S32)
		p = alu_sign_extend(24, s[0]) * alu_sign_extend(24, s[1]);
	else
		p = alu_zero_extend(24, s[0]) * alu_zero_extend(24, s[1]);
	return insn->flags & ALU_HI ? p >> 16 : p;
}

OP(mul24)
{
	d[0] = alu_fit(insn->type, product24(insn, s));
}

OP(mad24)
{
	d[0] = alu_fit(insn->type, product24(insn, s) + s[2]);
}

OP(mad24_sat)
{
	int64_t high = (int32_t)product24(insn, s);

	d[0] = (uint64_t)alu_clamp(high + (int32_t)s[2], INT32_MIN, INT32_MAX);
}

static uint64_t element(unsigned type, unsigned bits, uint64_t v, unsigned i)
{
	return type == ALU_S32 ? alu_sign_extend(bits, v >> i * bits) : alu_zero_extend(bits, v >> i * bits);
}

OP(dp4a)
{
	uint64_t sum = s[2];

	for (unsigned i = 0; i < 4; i++)
		sum += element(insn->type, 8, s[0], i) * element(insn->type2, 8, s[1], i);
	d[0] = alu_fit(insn->out[0], sum);
}

OP(dp2a)
{
	unsigned first = insn->flags & ALU_HI ? 2 : 0;
	uint64_t sum = s[2];

	for (unsigned i = 0; i < 2; i++)
		sum += element(insn->type, 16, s[0], i) * element(insn->type2, 8, s[1], first + i);
	d[0] = alu_fit(insn->out[0], sum);
}

/* One of .lo, .hi and .wide. */
static bool one_half(struct alu_insn *insn, const struct alu_words *words)
{
	unsigned which = insn->flags & (ALU_LO | ALU_HI | ALU_WIDE);

	return words->types == 1 && which && !(which & (which - 1));
}

static bool reads_carry(struct alu_insn *insn, const struct alu_words *words)
{
	insn->op = 1;
	return one_half(insn, words) && !((insn->flags & ALU_CC) && alu_widths[insn->type] == 16);
}

/* The sum is signed if either factor is. */
static bool sums(struct alu_insn *insn, const struct alu_words *words)
{
	insn->out[0] = insn->in[2] = insn->type == ALU_S32 || insn->type2 == ALU_S32 ? ALU_S32 : ALU_U32;
	return words->types == 2;
}

static bool sums_half(struct alu_insn *insn, const struct alu_words *words)
{
	unsigned which = insn->flags & (ALU_LO | ALU_HI);

	return sums(insn, words) && (which == ALU_LO || which == ALU_HI);
}

#define NARROW (T(U16) | T(U32) | T(S16) | T(S32))
#define BOTH32 (T(U32) | T(S32))
#define HALF (ALU_LO | ALU_HI)

const struct alu_row alu_mul_rows[] = {
	{ "mul", mul, "t:tt", .types = ALU_INTS, .may = HALF, .check = one_half },
	{ "mul", mul, "w:tt", .types = NARROW, .need = ALU_WIDE },
	{ "mad", mad, "t:ttt", .types = ALU_INTS, .may = HALF, .check = one_half },
	{ "mad", mad, "w:ttw", .types = NARROW, .need = ALU_WIDE },
	{ "mad", mad_sat, "t:ttt", .types = T(S32), .need = ALU_HI | ALU_SAT },
	{ "mad", mad_carry, "t:ttt", .types = ALU_WORDS, .need = ALU_CC, .may = HALF, .check = one_half },
	{ "madc", mad_carry, "t:ttt", .types = ALU_INTS, .may = ALU_CC | HALF, .check = reads_carry },
	{ "mul24", mul24, "t:tt", .types = BOTH32, .may = HALF, .check = one_half },
	{ "mad24", mad24, "t:ttt", .types = BOTH32, .may = HALF, .check = one_half },
	{ "mad24", mad24_sat, "t:ttt", .types = T(S32), .need = ALU_HI | ALU_SAT },
	{ "dp4a", dp4a, "t:bbt", .types = BOTH32, BOTH32, .check = sums },
	{ "dp2a", dp2a, "t:bbt", .types = BOTH32, BOTH32, .may = HALF, .check = sums_half },
	{ 0 },
};
