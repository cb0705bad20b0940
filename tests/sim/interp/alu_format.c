/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "alu_format.h"
#include "alu_ops.h"

const struct alu_format alu_half = { 5, 10, 0, false }, alu_bfloat = { 8, 7, 0, false };
const struct alu_format alu_single = { 8, 23, 0, false }, alu_double = { 11, 52, 0, false };
const struct alu_format alu_tf32 = { 8, 10, 13, false };
const struct alu_format alu_e4m3 = { 4, 3, 0, true }, alu_e5m2 = { 5, 2, 0, false };

const struct alu_format *alu_format_of(unsigned type)
{
	switch (type) {
	case ALU_F16:
	case ALU_F16X2: return &alu_half;
	case ALU_BF16:
	case ALU_BF16X2: return &alu_bfloat;
	case ALU_F32:
	case ALU_F32X2: return &alu_single;
	case ALU_F64: return &alu_double;
	case ALU_TF32: return &alu_tf32;
	case ALU_E4M3X2: return &alu_e4m3;
	case ALU_E5M2X2: return &alu_e5m2;
	default: return NULL;
	}
}

/* All ones in the exponent, and nothing else. */
static uint64_t infinity(const struct alu_format *f)
{
	return ((1ull << f->exponent) - 1) << f->mantissa;
}

static uint64_t sign_of(const struct alu_format *f, bool negative)
{
	return (uint64_t)negative << (f->exponent + f->mantissa);
}

/* The largest finite number, before it is shifted. */
static uint64_t largest(const struct alu_format *f)
{
	return f->finite ? infinity(f) + (1ull << f->mantissa) - 2 : infinity(f) - 1;
}

uint64_t alu_format_max(const struct alu_format *f)
{
	return largest(f) << f->shift;
}

uint64_t alu_format_nan(const struct alu_format *f)
{
	if (f == &alu_double)
		return ALU_NAN64;
	return f->shift ? ALU_NAN32 : infinity(f) + (1ull << f->mantissa) - 1;
}

/* Does a remainder, of a unit that is twice half, round away from zero? */
static bool round_up(enum alu_round round, bool negative, bool odd, uint64_t rest, uint64_t half)
{
	switch (round) {
	case ALU_RN: return rest > half || (rest == half && odd);
	case ALU_RNA: return rest >= half;
	case ALU_RM: return rest && negative;
	case ALU_RP: return rest && !negative;
	default: return false;
	}
}

static uint64_t overflow(const struct alu_format *f, bool negative, enum alu_round round)
{
	if (round == ALU_RZ || (round == ALU_RM && !negative) || (round == ALU_RP && negative))
		return largest(f);
	return f->finite ? largest(f) + 1 : infinity(f);
}

uint64_t alu_pack(const struct alu_format *f, bool negative, int exp, uint64_t m, enum alu_round round)
{
	int least = 2 - (1 << (f->exponent - 1)), e, keep, drop;
	uint64_t bits = 0, rest, half;

	if (m == 0)
		return sign_of(f, negative) << f->shift;
	e = exp + 63 - __builtin_clzll(m);
	m <<= __builtin_clzll(m);
	keep = f->mantissa + 1 - (e < least ? least - e : 0);
	drop = keep < 0 ? 65 : 64 - keep;
	/* half of the last place; of less than half a place it matters only that it is there */
	half = drop > 64 ? 2 : 1ull << (drop - 1);
	rest = drop > 64 ? 1 : m & (half + (half - 1));
	if (drop < 64)
		bits = m >> drop;
	bits += round_up(round, negative, bits & 1, rest, half);
	/* the leading 1 adds one to the exponent, and so does a carry */
	if (e > least)
		bits = e - least >= 1 << f->exponent ? UINT64_MAX >> 1 : bits + ((uint64_t)(e - least) << f->mantissa);
	if (bits > largest(f))
		bits = overflow(f, negative, round);
	return (bits | sign_of(f, negative)) << f->shift;
}

uint64_t alu_round_to(const struct alu_format *f, double x, enum alu_round round)
{
	uint64_t bits = alu_bits64(x), m = bits & ((1ull << 52) - 1);
	int e = bits >> 52 & 0x7ff;
	bool negative = bits >> 63;

	if (x != x)
		return alu_format_nan(f);
	if (e == 0x7ff)
		return ((f->finite ? largest(f) + 1 : infinity(f)) | sign_of(f, negative)) << f->shift;
	return alu_pack(f, negative, e ? e - 1075 : -1074, e ? m | 1ull << 52 : m, round);
}

double alu_unpack(const struct alu_format *f, uint64_t bits)
{
	int bias = (1 << (f->exponent - 1)) - 1, e;
	uint64_t m;
	double x;

	if (f == &alu_double)
		return alu_f64(bits);
	bits >>= f->shift;
	m = bits & ((1ull << f->mantissa) - 1);
	e = (int)(bits >> f->mantissa & ((1u << f->exponent) - 1));
	if (e == (1 << f->exponent) - 1 && !(f->finite && m != (1u << f->mantissa) - 1))
		x = m ? NAN : INFINITY;
	else if (e == 0)
		x = ldexp((double)m, 1 - bias - f->mantissa);
	else
		x = alu_f64((uint64_t)(e - bias + 1023) << 52 | m << (52 - f->mantissa));
	return bits >> (f->exponent + f->mantissa) & 1 ? -x : x;
}

double alu_odd_sum(double a, double b, double c)
{
	double p = a * b, sum = p + c, part = sum - p, error = (p - (sum - part)) + (c - part);
	uint64_t bits = alu_bits64(sum);

	if (!isfinite(sum) || error == 0 || (bits & 1))
		return sum;
	return alu_f64((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}
