/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Arithmetic of f16 and bf16, alone and in pairs: exact or rounded to odd in a double, and rounded once. */
#include "alu_format.h"
#include "alu_ops.h"

#define OP(name) static void name(const struct alu_insn *insn, uint64_t *d, const uint64_t *s, \
				  uint32_t *carry __attribute__((unused)))

enum { ADD, SUB, MUL, FMA, MIN, MAX, ABS, NEG };

static double flush(const struct alu_insn *insn, double x)
{
	return (insn->flags & ALU_FTZ) && fabs(x) < 0x1p-14 ? copysign(0, x) : x;
}

static bool nan_or_less(const struct alu_insn *insn, double a, double b)
{
	if (a != a || b != b)
		return insn->flags & ALU_NAN ? a != a : b != b;
	return a != b ? (a < b) == (insn->op == MIN) : signbit(a) == (insn->op == MIN);
}

static double minmax(const struct alu_insn *insn, double a, double b)
{
	double r;

	if (!(insn->flags & ALU_XORSIGN))
		return nan_or_less(insn, a, b) ? a : b;
	r = nan_or_less(insn, fabs(a), fabs(b)) ? fabs(a) : fabs(b);
	return signbit(a) != signbit(b) ? -r : r;
}

static double compute(const struct alu_insn *insn, double a, double b, double c)
{
	switch (insn->op) {
	case ADD: return alu_odd_sum(a, 1, b);
	case SUB: return alu_odd_sum(a, 1, -b);
	case MUL: return a * b;
	case FMA: return alu_odd_sum(a, b, c);
	default: return minmax(insn, a, b);
	}
}

/* Of one element; the operands' other bits are ignored. */
static uint64_t half(const struct alu_insn *insn, uint64_t a, uint64_t b, uint64_t c)
{
	const struct alu_format *f = alu_format_of(insn->type);
	double x = flush(insn, alu_unpack(f, a)), y = flush(insn, alu_unpack(f, b)), z = flush(insn, alu_unpack(f, c));
	uint64_t bits;

	x = compute(insn, x, y, z);
	if ((insn->flags & ALU_RELU) && x <= 0)
		x = 0;
	if (insn->flags & ALU_SAT)
		x = x > 0 ? x < 1 ? x : 1 : 0;
	bits = alu_round_to(f, x, insn->round);
	/* the result is looked at after it is rounded */
	return (insn->flags & ALU_FTZ) && !(bits & 0x7c00) ? bits & 0x8000 : bits;
}

static uint64_t sign(const struct alu_insn *insn, uint64_t a)
{
	a &= 0xffff;
	if ((insn->flags & ALU_FTZ) && !(a & 0x7c00))
		a &= 0x8000;
	return insn->op == ABS ? a & 0x7fff : a ^ 0x8000;
}

OP(one)
{
	d[0] = half(insn, s[0], s[1], insn->operands == 3 ? s[2] : 0);
}

OP(two)
{
	uint64_t c = insn->operands == 3 ? s[2] : 0;

	d[0] = half(insn, s[0], s[1], c) | half(insn, s[0] >> 16, s[1] >> 16, c >> 16) << 16;
}

OP(sign1)
{
	d[0] = sign(insn, s[0]);
}

OP(sign2)
{
	d[0] = sign(insn, s[0]) | sign(insn, s[0] >> 16) << 16;
}

/* bf16 has neither .ftz nor .sat; .relu and .sat exclude each other, and .xorsign and .abs go together. */
static bool known(struct alu_insn *insn, const struct alu_words *words, unsigned op)
{
	bool bfloat = insn->type == ALU_BF16 || insn->type == ALU_BF16X2;
	bool pair = insn->type == ALU_F16X2 || insn->type == ALU_BF16X2;

	insn->op = op;
	if (op >= ABS)
		insn->run = pair ? sign2 : sign1;
	else
		insn->run = pair ? two : one;
	if (bfloat && (insn->flags & (ALU_FTZ | ALU_SAT)))
		return false;
	if ((insn->flags & ALU_SAT) && (insn->flags & ALU_RELU))
		return false;
	if (!bfloat && insn->round != ALU_RN)
		return false;
	return words->types == 1 && !(insn->flags & ALU_XORSIGN) == !(insn->flags & ALU_ABS);
}

#define KNOWN(name, op) \
	static bool name(struct alu_insn *insn, const struct alu_words *words) { return known(insn, words, op); }
KNOWN(is_add, ADD)
KNOWN(is_sub, SUB)
KNOWN(is_mul, MUL)
KNOWN(is_fma, FMA)
KNOWN(is_min, MIN)
KNOWN(is_max, MAX)
KNOWN(is_abs, ABS)
KNOWN(is_neg, NEG)

#define FTZ_SAT .may = ALU_FTZ | ALU_SAT, .rounds = ALU_ROUND(RN)
#define MINMAX .may = ALU_FTZ | ALU_NAN | ALU_XORSIGN | ALU_ABS

const struct alu_row alu_half_rows[] = {
	{ "add", NULL, "t:tt", .types = ALU_HALVES, FTZ_SAT, .check = is_add },
	{ "sub", NULL, "t:tt", .types = ALU_HALVES, FTZ_SAT, .check = is_sub },
	{ "mul", NULL, "t:tt", .types = ALU_HALVES, FTZ_SAT, .check = is_mul },
	{ "fma", NULL, "t:ttt", .types = ALU_HALVES, .may = ALU_FTZ | ALU_SAT | ALU_RELU,
	  .rounds = ALU_IEEE | ALU_ROUNDED, .check = is_fma },
	{ "min", NULL, "t:tt", .types = ALU_HALVES, MINMAX, .check = is_min },
	{ "max", NULL, "t:tt", .types = ALU_HALVES, MINMAX, .check = is_max },
	{ "abs", NULL, "t:t", .types = ALU_HALVES, .may = ALU_FTZ, .check = is_abs },
	{ "neg", NULL, "t:t", .types = ALU_HALVES, .may = ALU_FTZ, .check = is_neg },
	{ 0 },
};
