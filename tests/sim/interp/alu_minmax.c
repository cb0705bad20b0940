/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Signs, minima and maxima of f32 and f64. */
#include "alu_ops.h"

#define OP(name) static void name(const struct alu_insn *insn, uint64_t *d, const uint64_t *s, \
				  uint32_t *carry __attribute__((unused)))

/* A sign is changed also of a NaN; only .ftz looks at the value. */
OP(abs32)
{
	d[0] = alu_bits32(alu_in32(insn, s[0])) & 0x7fffffff;
}

OP(neg32)
{
	d[0] = alu_bits32(alu_in32(insn, s[0])) ^ 0x80000000;
}

OP(abs64)
{
	(void)insn;
	d[0] = s[0] & ~(1ull << 63);
}

OP(neg64)
{
	(void)insn;
	d[0] = s[0] ^ 1ull << 63;
}

/* -0 is less than 0; a NaN loses, unless .NaN.  insn->op is 1 for the maximum. */
static double choose(const struct alu_insn *insn, double a, double b)
{
	bool less;

	if (a != a || b != b)
		return a != a && (b != b || (insn->flags & ALU_NAN)) ? a :
			b != b && (insn->flags & ALU_NAN) ? b : a != a ? b : a;
	less = a != b ? a < b : signbit(a) > signbit(b);
	return less == (insn->op == 0) ? a : b;
}

static float plain(const struct alu_insn *insn, uint64_t v)
{
	float f = alu_in32(insn, v);

	return insn->flags & ALU_ABS ? fabsf(f) : f;
}

OP(minmax32)
{
	float r = (float)choose(insn, plain(insn, s[0]), plain(insn, s[1]));

	if (insn->operands == 3)
		r = (float)choose(insn, r, plain(insn, s[2]));
	d[0] = alu_out32(insn, r);
	if ((insn->flags & ALU_XORSIGN) && r == r)
		d[0] |= (s[0] ^ s[1]) & 0x80000000;
}

OP(minmax64)
{
	d[0] = alu_out64(choose(insn, alu_f64(s[0]), alu_f64(s[1])));
}

/* .xorsign and .abs go together where there are two operands. */
static bool is_min(struct alu_insn *insn, const struct alu_words *words)
{
	return words->types == 1 &&
		(insn->operands == 3 || !(insn->flags & ALU_XORSIGN) == !(insn->flags & ALU_ABS));
}

static bool is_max(struct alu_insn *insn, const struct alu_words *words)
{
	insn->op = 1;
	return is_min(insn, words);
}

#define TWO .may = ALU_FTZ | ALU_NAN | ALU_XORSIGN | ALU_ABS
#define THREE .may = ALU_FTZ | ALU_NAN | ALU_ABS

const struct alu_row alu_minmax_rows[] = {
	{ "abs", abs32, "t:t", .types = T(F32), .may = ALU_FTZ },
	{ "abs", abs64, "t:t", .types = T(F64) },
	{ "neg", neg32, "t:t", .types = T(F32), .may = ALU_FTZ },
	{ "neg", neg64, "t:t", .types = T(F64) },
	{ "min", minmax32, "t:tt", .types = T(F32), TWO, .check = is_min },
	{ "min", minmax32, "t:ttt", .types = T(F32), THREE, .check = is_min },
	{ "min", minmax64, "t:tt", .types = T(F64) },
	{ "max", minmax32, "t:tt", .types = T(F32), TWO, .check = is_max },
	{ "max", minmax32, "t:ttt", .types = T(F32), THREE, .check = is_max },
	{ "max", minmax64, "t:tt", .types = T(F64), .check = is_max },
	{ 0 },
};
