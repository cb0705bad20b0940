/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Scalar video instructions: of bytes, halves and words of registers. */
#include "alu_video.h"

#define OP(name) static void name(const struct alu_insn *insn, uint64_t *d, const uint64_t *s, \
				  uint32_t *carry __attribute__((unused)))

/* insn->part: 0 all of it, 1 to 4 a byte, 5 and 6 a half. */
static unsigned part_bits(unsigned part)
{
	return part == 0 ? 32 : part <= 4 ? 8 : 16;
}

static unsigned part_shift(unsigned part)
{
	return part == 0 ? 0 : part <= 4 ? (part - 1) * 8 : (part - 5) * 16;
}

static int64_t extend(unsigned bits, bool is_signed, uint64_t v)
{
	return (int64_t)(is_signed ? alu_sign_extend(bits, v) : alu_zero_extend(bits, v));
}

static int64_t operand(const struct alu_insn *insn, unsigned i, bool is_signed, const uint64_t *s)
{
	unsigned part = insn->part[i + 1];

	return extend(part_bits(part), is_signed, s[i] >> part_shift(part));
}

static int64_t clamp_to(unsigned bits, bool is_signed, int64_t v)
{
	int64_t high = (1ll << (bits - is_signed)) - 1;

	return alu_clamp(v, is_signed ? -high - 1 : 0, high);
}

/* insn->mode: 1 to 3 for .add, .min, .max with c; without them c has the bits that the destination does not. */
static uint64_t second(const struct alu_insn *insn, int64_t v, const uint64_t *s)
{
	bool is_signed = insn->out[0] == ALU_S32;
	unsigned bits = part_bits(insn->part[0]), shift = part_shift(insn->part[0]);
	uint64_t mask = (1ull << bits) - 1;
	int64_t c;

	if (insn->flags & ALU_SAT)
		v = clamp_to(bits, is_signed, v);
	if (insn->operands < 3)
		return (uint64_t)v;
	c = extend(32, is_signed, s[2]);
	switch (insn->mode) {
	case 1: return (uint64_t)(v + c);
	case 2: return (uint64_t)(v < c ? v : c);
	case 3: return (uint64_t)(v > c ? v : c);
	default: return ((uint64_t)v & mask) << shift | (s[2] & ~(mask << shift));
	}
}

int64_t video_compute(const struct alu_insn *insn, int64_t a, int64_t b)
{
	int64_t sum = a + b;
	unsigned outcome;

	switch (video_what(insn)) {
	case VADD: return sum;
	case VSUB: return a - b;
	case VABSDIFF: return a < b ? b - a : a - b;
	case VMIN: return a < b ? a : b;
	case VMAX: return a > b ? a : b;
	case VAVRG: return sum >= 0 ? (sum + 1) >> 1 : sum >> 1;
	default:
		outcome = a < b ? ALU_LESS : a > b ? ALU_GREATER : ALU_EQUAL;
		return (insn->cmp & outcome) != 0;
	}
}

OP(scalar)
{
	int64_t a = operand(insn, 0, video_signed(insn), s), b = operand(insn, 1, insn->type2 == ALU_S32, s);

	d[0] = alu_fit(insn->out[0], second(insn, video_compute(insn, a, b), s));
}

OP(shift)
{
	int64_t a = operand(insn, 0, video_signed(insn), s), b = operand(insn, 1, false, s);

	b = insn->flags & ALU_WRAP ? b & 31 : b < 32 ? b : 32;
	if (video_what(insn) == VSHL)
		a = (int64_t)((uint64_t)a << b);
	else
		a >>= b;
	d[0] = alu_fit(insn->out[0], second(insn, a, s));
}

/* insn->mode: 1, 2 for .shr7, .shr15. */
OP(mad)
{
	bool a_signed = video_signed(insn), b_signed = insn->type2 == ALU_S32, is_signed = a_signed || b_signed;
	__int128 sum = (__int128)operand(insn, 0, a_signed, s) * operand(insn, 1, b_signed, s);
	static const int shifts[] = { 0, 7, 15 };

	sum += extend(32, is_signed, s[2]) + ((insn->flags & ALU_PLUS) != 0);
	sum >>= shifts[insn->mode];
	if ((insn->flags & ALU_SAT) && sum > INT64_MAX)
		sum = INT64_MAX;
	if (insn->flags & ALU_SAT)
		sum = clamp_to(32, is_signed, (int64_t)sum);
	d[0] = alu_fit(insn->out[0], (uint64_t)sum);
}

static bool of_32(const struct alu_words *words, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (words->type[i] != ALU_U32 && words->type[i] != ALU_S32)
			return false;
	return words->types == n;
}

static bool known(struct alu_insn *insn, const struct alu_words *words, unsigned what)
{
	video_set(insn, what, 1, words->type[what == VSET ? 0 : 1] == ALU_S32);
	/* what is to be done with c, or nothing */
	if (insn->operands == 2 && insn->mode)
		return false;
	if (what == VSHL || what == VSHR)
		return of_32(words, 3) && words->type[2] == ALU_U32 &&
			!(insn->flags & ALU_WRAP) != !(insn->flags & ALU_CLAMP);
	if (what == VSET)
		return of_32(words, 2) && alu_plain_cmp(insn->cmp, insn->type2 == ALU_U32);
	return of_32(words, 3);
}

#define KNOWN(name, what) \
	static bool name(struct alu_insn *insn, const struct alu_words *words) { return known(insn, words, what); }
KNOWN(is_add, VADD)
KNOWN(is_sub, VSUB)
KNOWN(is_absdiff, VABSDIFF)
KNOWN(is_min, VMIN)
KNOWN(is_max, VMAX)
KNOWN(is_set, VSET)
KNOWN(is_shl, VSHL)
KNOWN(is_shr, VSHR)
KNOWN(is_mad, VMAD)

static const char *const seconds[] = { "add", "min", "max", NULL };
static const char *const scales[] = { "shr7", "shr15", NULL };

#define BOTH (T(U32) | T(S32))
#define VIDEO(name, is) \
	{ name, scalar, "t:bb", BOTH, BOTH, .may = ALU_SAT, .modes = seconds, .check = is, .cycles = 8 }, \
	{ name, scalar, "t:bbb", BOTH, BOTH, .may = ALU_SAT, .modes = seconds, .check = is, .cycles = 8 }
#define SHIFT(name, is) \
	{ name, shift, "t:bb", BOTH, BOTH, .may = ALU_SAT | ALU_WRAP | ALU_CLAMP, .modes = seconds, .check = is, \
	  .cycles = 8 }, \
	{ name, shift, "t:bbb", BOTH, BOTH, .may = ALU_SAT | ALU_WRAP | ALU_CLAMP, .modes = seconds, .check = is, \
	  .cycles = 8 }

const struct alu_row alu_video_rows[] = {
	VIDEO("vadd", is_add),
	VIDEO("vsub", is_sub),
	VIDEO("vabsdiff", is_absdiff),
	VIDEO("vmin", is_min),
	VIDEO("vmax", is_max),
	SHIFT("vshl", is_shl),
	SHIFT("vshr", is_shr),
	{ "vset", scalar, "u:bb", BOTH, BOTH, .cmp = true, .check = is_set, .cycles = 8 },
	{ "vset", scalar, "u:bbb", BOTH, BOTH, .modes = seconds, .cmp = true, .check = is_set, .cycles = 8 },
	{ "vmad", mad, "t:bbb", BOTH, BOTH, .may = ALU_SAT | ALU_PLUS, .modes = scales, .check = is_mad, .cycles = 8 },
	{ 0 },
};
