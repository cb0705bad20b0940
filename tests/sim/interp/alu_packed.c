/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Conversions with .relu or .satfinite, of two values into a register, and of formats of 8 and 19 bits. */
#include "alu_format.h"
#include "alu_ops.h"

#define OP(name) static void name(const struct alu_insn *insn, uint64_t *d, const uint64_t *s, \
				  uint32_t *carry __attribute__((unused)))

/* Returns x in the format of insn->type. */
static uint64_t narrow(const struct alu_insn *insn, double x)
{
	const struct alu_format *format = alu_format_of(insn->type);
	double max = alu_unpack(format, alu_format_max(format));
	uint64_t bits;

	if ((insn->flags & ALU_RELU) && x <= 0)
		x = 0;
	bits = alu_round_to(format, x, insn->round);
	if ((insn->flags & ALU_FINITE) && fabs(x) > max)
		return alu_round_to(format, copysign(max, x), ALU_RN);
	return bits;
}

OP(one)
{
	d[0] = narrow(insn, (double)alu_f32(s[0]));
}

/* The first operand is the upper half. */
OP(two)
{
	unsigned bits = alu_widths[insn->type] / 2;

	d[0] = narrow(insn, (double)alu_f32(s[0])) << bits | narrow(insn, (double)alu_f32(s[1]));
}

/* From f16x2 to two of 8 bits. */
OP(shrink)
{
	d[0] = narrow(insn, alu_unpack(&alu_half, s[0] >> 16)) << 8 | narrow(insn, alu_unpack(&alu_half, s[0]));
}

/* Back. */
OP(grow)
{
	const struct alu_format *from = alu_format_of(insn->type2);

	d[0] = narrow(insn, alu_unpack(from, s[0] >> 8)) << 16 | narrow(insn, alu_unpack(from, s[0]));
}

/* cvt.pack of s32: to 16 bits, or to fewer in front of what is in the third operand. */
static uint64_t saturate(unsigned bits, bool sign, uint64_t v)
{
	int64_t high = (1 << (bits - sign)) - 1;

	return (uint64_t)alu_clamp((int32_t)v, sign ? -high - 1 : 0, high) & ((1u << bits) - 1);
}

OP(pack16)
{
	bool sign = insn->type == ALU_S16;

	d[0] = saturate(16, sign, s[0]) << 16 | saturate(16, sign, s[1]);
}

static const char *const pack_modes[] = { "u2", "s2", "u4", "s4", "u8", "s8", NULL };

OP(pack)
{
	unsigned bits = 2u << (insn->mode - 1) / 2;
	bool sign = insn->mode % 2 == 0;

	d[0] = (uint32_t)(s[2] << 2 * bits | saturate(bits, sign, s[0]) << bits |
			  saturate(bits, sign, s[1]));
}

/* What has neither .relu nor .satfinite is alu_cvt.c's. */
static bool special(struct alu_insn *insn, const struct alu_words *words)
{
	return words->types == 2 && (insn->flags & (ALU_RELU | ALU_FINITE));
}

/* .relu is not with .rna. */
static bool tf32(struct alu_insn *insn, const struct alu_words *words)
{
	return words->types == 2 && !(insn->round == ALU_RNA && (insn->flags & ALU_RELU));
}

/* The third word is the type of what is in front, always b32. */
static bool two_types(struct alu_insn *insn, const struct alu_words *words)
{
	(void)insn;
	return words->types == 2;
}

#define RN (ALU_ROUND(RN) | ALU_ROUNDED)
#define RN_RZ (ALU_ROUND(RN) | ALU_ROUND(RZ) | ALU_ROUNDED)
#define EIGHT (T(E4M3X2) | T(E5M2X2))

const struct alu_row alu_pack_rows[] = {
	{ "cvt", one, "t:s", .types = T(F16) | T(BF16), T(F32), .may = ALU_RELU | ALU_FINITE,
	  .rounds = RN_RZ, .cycles = 8,
	  .check = special },
	{ "cvt", two, "t:ss", .types = T(F16X2) | T(BF16X2), T(F32), .may = ALU_RELU | ALU_FINITE, .rounds = RN_RZ,
	  .cycles = 8 },
	{ "cvt", one, "t:s", .types = T(TF32), T(F32), .may = ALU_RELU | ALU_FINITE, .rounds = RN_RZ | ALU_ROUND(RNA),
	  .cycles = 8, .check = tf32 },
	{ "cvt", two, "t:ss", .types = EIGHT, T(F32), .need = ALU_FINITE, .may = ALU_RELU, .rounds = RN,
	  .cycles = 8 },
	{ "cvt", shrink, "t:s", .types = EIGHT, T(F16X2), .need = ALU_FINITE, .may = ALU_RELU, .rounds = RN,
	  .cycles = 8 },
	{ "cvt", grow, "t:s", .types = T(F16X2), EIGHT, .may = ALU_RELU, .rounds = RN, .cycles = 8 },
	{ "cvt", pack16, "b:ss", .types = T(U16) | T(S16), T(S32), .need = ALU_PACK | ALU_SAT, .cycles = 8 },
	{ "cvt", pack, "b:ttb", .types = T(S32), T(B32), .need = ALU_PACK | ALU_SAT, .modes = pack_modes,
	  .mode = true,
	  .cycles = 8, .check = two_types },
	{ 0 },
};
