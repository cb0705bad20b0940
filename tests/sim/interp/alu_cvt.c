/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Conversions of one value. */
#include "alu_format.h"
#include "alu_ops.h"

#define OP(name) static void name(const struct alu_insn *insn, uint64_t *d, const uint64_t *s, \
				  uint32_t *carry __attribute__((unused)))

#define CVT_INTS (ALU_INTS | T(U8) | T(S8))
#define CVT_FLOATS (T(F16) | T(BF16) | T(F32) | T(F64))

/* The limits of an integer type as its values are kept in 64 bits. */
static uint64_t highest(unsigned type)
{
	return UINT64_MAX >> (64 - alu_widths[type] + alu_signed(type));
}

static uint64_t lowest(unsigned type)
{
	return alu_signed(type) ? ~highest(type) : 0;
}

OP(int_to_int)
{
	d[0] = alu_fit(insn->type, alu_fit(insn->type2, s[0]));
}

OP(int_to_int_sat)
{
	uint64_t a = alu_fit(insn->type2, s[0]), high = highest(insn->type), low = lowest(insn->type);

	if (alu_signed(insn->type2) && (int64_t)a < 0)
		d[0] = (int64_t)a < (int64_t)low ? low : a;
	else
		d[0] = a > high ? high : a;
}

static double clamp01(double x)
{
	return x > 0 ? x < 1 ? x : 1 : 0;
}

/* To the nearest, which the CPU does faster. */
OP(int_to_f32)
{
	uint64_t a = alu_fit(insn->type2, s[0]);

	d[0] = alu_bits32(alu_signed(insn->type2) ? (float)(int64_t)a : (float)a);
}

OP(int_to_f64)
{
	uint64_t a = alu_fit(insn->type2, s[0]);

	d[0] = alu_bits64(alu_signed(insn->type2) ? (double)(int64_t)a : (double)a);
}

OP(int_to_float)
{
	const struct alu_format *format = alu_format_of(insn->type);
	uint64_t a = alu_fit(insn->type2, s[0]);
	bool negative = alu_signed(insn->type2) && (int64_t)a < 0;

	if (insn->flags & ALU_SAT)
		d[0] = alu_round_to(format, clamp01(negative ? -1 : (double)a), ALU_RN);
	else
		d[0] = alu_pack(format, negative, 0, negative ? 0 - a : a, insn->round);
}

static double value(const struct alu_insn *insn, uint64_t v)
{
	switch (insn->type2) {
	case ALU_F32: return (double)alu_in32(insn, v);
	case ALU_F64: return alu_f64(v);
	default: return alu_unpack(alu_format_of(insn->type2), v);
	}
}

/* To an integer, by ALU_RNI … ALU_RPI. */
static double integral(unsigned round, double x)
{
	switch (round) {
	case ALU_RNI: return nearbyint(x);
	case ALU_RZI: return trunc(x);
	case ALU_RMI: return floor(x);
	case ALU_RPI: return ceil(x);
	default: return x;
	}
}

/* PTX ISA: 0, or where 64 bits are in it the bit above the largest signed number. */
static uint64_t nan_to_int(const struct alu_insn *insn)
{
	unsigned bits = alu_widths[insn->type];

	return insn->type2 == ALU_F64 || bits == 64 ? alu_fit(insn->type, 1ull << (bits - 1)) : 0;
}

OP(float_to_int)
{
	double x = integral(insn->round, value(insn, s[0]));
	bool sign = alu_signed(insn->type);
	double above = (double)highest(insn->type) + 1;

	if (x != x)
		d[0] = nan_to_int(insn);
	else if (x >= above)
		d[0] = highest(insn->type);
	else if (sign)
		d[0] = x < -above ? lowest(insn->type) : (uint64_t)(int64_t)x;
	else
		d[0] = x > 0 ? (uint64_t)x : 0;
}

/* What rounds to an integer is of one type, and is that type's again. */
OP(float_to_float)
{
	double x = integral(insn->round, value(insn, s[0]));

	if (insn->flags & ALU_SAT)
		x = clamp01(x);
	if (insn->type == ALU_F64)
		d[0] = alu_out64(x);
	else
		d[0] = alu_round_to(alu_format_of(insn->type), x, insn->round > ALU_RNA ? ALU_RN : insn->round);
	if (insn->type == ALU_F32)
		d[0] = alu_bits32(alu_flush(insn, alu_f32(d[0])));
}

static bool to_float(const struct alu_insn *insn, const struct alu_words *words)
{
	unsigned to = alu_widths[insn->type], from = alu_widths[insn->type2];
	bool ieee = words->rounds && insn->round <= ALU_RP;

	if (insn->type == insn->type2)
		return !words->rounds || !ieee;
	/* ptxas takes a rounding of what is exact from bf16, and none between the two of 16 bits */
	if (to > from)
		return !words->rounds || (insn->type2 == ALU_BF16 && ieee);
	return ieee || (to == from && !words->rounds);
}

/* Which rounding there must be, or must not. */
static bool converts(struct alu_insn *insn, const struct alu_words *words)
{
	bool to = alu_is(insn->type, CVT_FLOATS), from = alu_is(insn->type2, CVT_FLOATS);
	bool ieee = words->rounds && insn->round <= ALU_RP;

	if (words->types != 2)
		return false;
	if ((insn->flags & ALU_SAT) && (insn->type == ALU_BF16 || insn->type2 == ALU_BF16))
		return false;
	if ((insn->type == ALU_BF16 && alu_widths[insn->type2] == 8) ||
	    (insn->type2 == ALU_BF16 && alu_widths[insn->type] == 8))
		return false;
	if ((insn->flags & ALU_FTZ) && insn->type != ALU_F32 && insn->type2 != ALU_F32)
		return false;
	if (to && from) {
		insn->run = float_to_float;
		return to_float(insn, words);
	}
	if (to || from) {
		insn->run = to ? int_to_float : float_to_int;
		if (to && insn->round == ALU_RN && !(insn->flags & ALU_SAT))
			insn->run = insn->type == ALU_F32 ? int_to_f32 : insn->type == ALU_F64 ? int_to_f64 : int_to_float;
		return to ? ieee : words->rounds && !ieee;
	}
	insn->run = insn->flags & ALU_SAT ? int_to_int_sat : int_to_int;
	/* a type that has all of the values does not clamp any */
	if ((insn->flags & ALU_SAT) && highest(insn->type) >= highest(insn->type2) &&
	    (int64_t)lowest(insn->type) <= (int64_t)lowest(insn->type2))
		return false;
	return !words->rounds && !(insn->flags & ALU_FTZ);
}

const struct alu_row alu_cvt_rows[] = {
	{ "cvt", NULL, "t:s", .types = CVT_INTS | CVT_FLOATS, CVT_INTS | CVT_FLOATS, .may = ALU_FTZ | ALU_SAT,
	  .rounds = ALU_IEEE | ALU_INTEGRAL, .cycles = 8, .check = converts },
	{ 0 },
};
