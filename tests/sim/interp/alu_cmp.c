/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Comparisons, and what chooses by a sign. */
#include "alu_format.h"
#include "alu_ops.h"

#define OP(name) static void name(const struct alu_insn *insn, uint64_t *d, const uint64_t *s, \
				  uint32_t *carry __attribute__((unused)))

static unsigned outcome(double a, double b)
{
	return a < b ? ALU_LESS : a > b ? ALU_GREATER : a == b ? ALU_EQUAL : ALU_UNORDERED;
}

static double half_in(const struct alu_insn *insn, const struct alu_format *format, uint64_t v)
{
	double x = alu_unpack(format, v);

	return (insn->flags & ALU_FTZ) && fabs(x) < 0x1p-14 ? 0 : x;
}

static unsigned outcome_int(unsigned type, uint64_t a, uint64_t b)
{
	a = alu_fit(type, a);
	b = alu_fit(type, b);
	if (a == b)
		return ALU_EQUAL;
	return (alu_signed(type) ? (int64_t)a < (int64_t)b : a < b) ? ALU_LESS : ALU_GREATER;
}

static bool compare(const struct alu_insn *insn, uint64_t a, uint64_t b)
{
	const struct alu_format *format;
	unsigned how;

	switch (insn->type2) {
	case ALU_F32:
		how = outcome(alu_in32(insn, a), alu_in32(insn, b));
		break;
	case ALU_F64:
		how = outcome(alu_f64(a), alu_f64(b));
		break;
	case ALU_F16: case ALU_F16X2: case ALU_BF16: case ALU_BF16X2:
		format = alu_format_of(insn->type2);
		how = outcome(half_in(insn, format, a), half_in(insn, format, b));
		break;
	default:
		how = outcome_int(insn->type2, a, b);
	}
	return insn->cmp & how;
}

static bool combine(const struct alu_insn *insn, bool a, uint64_t b)
{
	switch (insn->boolop) {
	case ALU_AND: return a && (b & 1);
	case ALU_OR: return a || (b & 1);
	case ALU_XOR: return a != (b & 1);
	default: return a;
	}
}

OP(setp)
{
	bool yes = compare(insn, s[0], s[1]);

	d[0] = combine(insn, yes, insn->boolop ? s[2] : 0);
	d[1] = combine(insn, !yes, insn->boolop ? s[2] : 0);
}

/* The same of integers alone, which kernels do most. */
OP(setp_int)
{
	bool yes = insn->cmp & outcome_int(insn->type, s[0], s[1]);

	d[0] = yes;
	d[1] = !yes;
}

OP(setp_f32)
{
	bool yes = insn->cmp & outcome(alu_in32(insn, s[0]), alu_in32(insn, s[1]));

	d[0] = yes;
	d[1] = !yes;
}

/* Of two halves, each has a predicate. */
OP(setp2)
{
	d[0] = combine(insn, compare(insn, s[0], s[1]), insn->boolop ? s[2] : 0);
	d[1] = combine(insn, compare(insn, s[0] >> 16, s[1] >> 16), insn->boolop ? s[2] : 0);
}

static uint64_t one(unsigned type)
{
	switch (type) {
	case ALU_F16: case ALU_F16X2: return 0x3c00;
	case ALU_BF16: case ALU_BF16X2: return 0x3f80;
	case ALU_F32: return 0x3f800000;
	default: return UINT64_MAX;
	}
}

OP(set)
{
	bool yes = combine(insn, compare(insn, s[0], s[1]), insn->boolop ? s[2] : 0);

	d[0] = yes ? alu_fit(insn->type, one(insn->type)) : 0;
}

OP(set2)
{
	bool low = combine(insn, compare(insn, s[0], s[1]), insn->boolop ? s[2] : 0);
	bool high = combine(insn, compare(insn, s[0] >> 16, s[1] >> 16), insn->boolop ? s[2] : 0);
	uint64_t yes = one(insn->type) & 0xffff;

	d[0] = alu_fit(insn->type, (low ? yes : 0) | (high ? yes << 16 : 0));
}

OP(slct)
{
	bool first = insn->type2 == ALU_F32 ? alu_in32(insn, s[2]) >= 0 : (int32_t)s[2] >= 0;

	d[0] = alu_fit(insn->type, first ? s[0] : s[1]);
}

static const char *const testp_modes[] = {
	"finite", "infinite", "number", "notanumber", "normal", "subnormal", NULL
};

static bool is_class(unsigned mode, int class)
{
	switch (mode) {
	case 1: return class != FP_NAN && class != FP_INFINITE;
	case 2: return class == FP_INFINITE;
	case 3: return class != FP_NAN;
	case 4: return class == FP_NAN;
	/* PTX ISA: 0 is a normal number here */
	case 5: return class == FP_NORMAL || class == FP_ZERO;
	default: return class == FP_SUBNORMAL;
	}
}

OP(testp)
{
	d[0] = is_class(insn->mode, insn->type == ALU_F32 ? fpclassify(alu_f32(s[0])) : fpclassify(alu_f64(s[0])));
}

OP(copysign_)
{
	uint64_t sign = 1ull << (alu_widths[insn->type] - 1);

	d[0] = alu_fit(insn->type, (s[0] & sign) | (s[1] & ~sign));
}

#define FLOATS (T(F32) | T(F64) | ALU_HALVES)

/* Return true if halves of one kind are not compared for a result of the other: only set.bf16.f16 is. */
static bool other_half(const struct alu_insn *insn)
{
	if (insn->type == ALU_BF16 && insn->type2 == ALU_F16)
		return insn->flags & ALU_FTZ;
	return alu_is(insn->type, ALU_HALVES) && alu_is(insn->type2, ALU_HALVES);
}

/* Which comparisons a type has, and .ftz. */
static bool compares(struct alu_insn *insn, const struct alu_words *words)
{
	unsigned cmp = insn->cmp & ~ALU_UNSIGNED;

	if (words->types == 3 || (insn->type != insn->type2 && other_half(insn)))
		return false;
	if (alu_is(insn->type2, FLOATS))
		return cmp == insn->cmp && (!(insn->flags & ALU_FTZ) || (insn->type != ALU_BF16 &&
					    alu_is(insn->type2, T(F32) | T(F16) | T(F16X2))));
	if ((insn->flags & ALU_FTZ) || !alu_plain_cmp(cmp, false))
		return false;
	if (alu_is(insn->type2, ALU_BITS))
		return cmp == insn->cmp && (cmp == ALU_EQUAL || cmp == (ALU_LESS | ALU_GREATER));
	return cmp == insn->cmp || !alu_signed(insn->type2);
}

static bool setp_simple(struct alu_insn *insn, const struct alu_words *words)
{
	if (!alu_is(insn->type, FLOATS))
		insn->run = setp_int;
	else if (insn->type == ALU_F32)
		insn->run = setp_f32;
	return compares(insn, words);
}

static bool slct_ftz(struct alu_insn *insn, const struct alu_words *words)
{
	return words->types == 2 && (insn->type2 == ALU_F32 || !(insn->flags & ALU_FTZ));
}

#define SCALARS (ALU_BITS | ALU_INTS | T(F32) | T(F64))
#define HALF1 (T(F16) | T(BF16))
#define HALF2 (T(F16X2) | T(BF16X2))
#define RESULTS (T(U32) | T(S32) | T(F32) | HALF1)
#define HALF_RESULTS (HALF1 | T(U16) | T(S16) | T(U32) | T(S32))
#define HALF2_RESULTS (HALF2 | T(U32) | T(S32))

const struct alu_row alu_cmp_rows[] = {
	{ "setp", setp, "pp:tt", .types = SCALARS | HALF1, .may = ALU_FTZ, .cmp = true, .check = setp_simple },
	{ "setp", setp, "pp:ttp", .types = SCALARS | HALF1, .may = ALU_FTZ, .cmp = true, .boolop = true,
	  .check = compares },
	{ "setp", setp2, "pp:tt", .types = HALF2, .may = ALU_FTZ, .cmp = true, .check = compares },
	{ "setp", setp2, "pp:ttp", .types = HALF2, .may = ALU_FTZ, .cmp = true, .boolop = true, .check = compares },
	{ "set", set, "t:ss", .types = RESULTS, SCALARS, .may = ALU_FTZ, .cmp = true,
	  .check = compares },
	{ "set", set, "t:ssp", .types = RESULTS, SCALARS, .may = ALU_FTZ, .cmp = true,
	  .boolop = true,
	  .check = compares },
	{ "set", set, "t:ss", .types = HALF_RESULTS, HALF1, .may = ALU_FTZ, .cmp = true, .check = compares },
	{ "set", set, "t:ssp", .types = HALF_RESULTS, HALF1, .may = ALU_FTZ, .cmp = true, .boolop = true,
	  .check = compares },
	{ "set", set2, "t:ss", .types = HALF2_RESULTS, HALF2, .may = ALU_FTZ, .cmp = true, .check = compares },
	{ "set", set2, "t:ssp", .types = HALF2_RESULTS, HALF2, .may = ALU_FTZ, .cmp = true, .boolop = true,
	  .check = compares },
	{ "slct", slct, "t:tts", .types = SCALARS, T(S32) | T(F32), .may = ALU_FTZ, .check = slct_ftz },
	{ "testp", testp, "p:t", .types = T(F32) | T(F64), .modes = testp_modes, .mode = true },
	{ "copysign", copysign_, "t:tt", .types = T(F32) | T(F64) },
	{ 0 },
};
