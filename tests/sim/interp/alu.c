/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* From an instruction's text to the function that computes it. */
#include "alu_ops.h"

const unsigned char alu_widths[ALU_TYPES] = {
	[ALU_NONE] = 64, [ALU_U8] = 8, [ALU_U16] = 16, [ALU_U32] = 32, [ALU_U64] = 64,
	[ALU_S8] = 8, [ALU_S16] = 16, [ALU_S32] = 32, [ALU_S64] = 64,
	[ALU_B8] = 8, [ALU_B16] = 16, [ALU_B32] = 32, [ALU_B64] = 64, [ALU_B128] = 64,
	[ALU_F16] = 16, [ALU_F16X2] = 32, [ALU_BF16] = 16, [ALU_BF16X2] = 32, [ALU_F32] = 32, [ALU_F64] = 64,
	[ALU_TF32] = 32, [ALU_F32X2] = 64, [ALU_E4M3X2] = 16, [ALU_E5M2X2] = 16, [ALU_U16X2] = 32,
	[ALU_S16X2] = 32, [ALU_PRED] = 1,
};

unsigned alu_bits(enum alu_type type)
{
	return type == ALU_NONE ? 0 : type == ALU_B128 ? 128 : alu_widths[type];
}

struct word {
	const char *text;
	unsigned value;
};

static const struct word types[] = {
	{ "u8", ALU_U8 }, { "u16", ALU_U16 }, { "u32", ALU_U32 }, { "u64", ALU_U64 },
	{ "s8", ALU_S8 }, { "s16", ALU_S16 }, { "s32", ALU_S32 }, { "s64", ALU_S64 },
	{ "b8", ALU_B8 }, { "b16", ALU_B16 }, { "b32", ALU_B32 }, { "b64", ALU_B64 }, { "b128", ALU_B128 },
	{ "f16", ALU_F16 }, { "f16x2", ALU_F16X2 }, { "bf16", ALU_BF16 }, { "bf16x2", ALU_BF16X2 },
	{ "f32", ALU_F32 }, { "f64", ALU_F64 }, { "tf32", ALU_TF32 }, { "f32x2", ALU_F32X2 },
	{ "e4m3x2", ALU_E4M3X2 }, { "e5m2x2", ALU_E5M2X2 }, { "u16x2", ALU_U16X2 }, { "s16x2", ALU_S16X2 },
	{ "pred", ALU_PRED }, { NULL, ALU_NONE },
};

static const struct word rounds[] = {
	{ "rn", ALU_RN }, { "rz", ALU_RZ }, { "rm", ALU_RM }, { "rp", ALU_RP }, { "rna", ALU_RNA },
	{ "rni", ALU_RNI }, { "rzi", ALU_RZI }, { "rmi", ALU_RMI }, { "rpi", ALU_RPI }, { NULL, 0 },
};

static const struct word flags[] = {
	{ "ftz", ALU_FTZ }, { "sat", ALU_SAT }, { "satfinite", ALU_FINITE }, { "lo", ALU_LO }, { "hi", ALU_HI },
	{ "wide", ALU_WIDE }, { "approx", ALU_APPROX }, { "full", ALU_FULL }, { "cc", ALU_CC }, { "NaN", ALU_NAN },
	{ "xorsign", ALU_XORSIGN }, { "abs", ALU_ABS }, { "relu", ALU_RELU }, { "wrap", ALU_WRAP },
	{ "clamp", ALU_CLAMP }, { "l", ALU_LEFT }, { "r", ALU_RIGHT }, { "shiftamt", ALU_SHIFTAMT },
	{ "pack", ALU_PACK }, { "po", ALU_PLUS },
	{ NULL, 0 },
};

static const struct word comparisons[] = {
	{ "eq", ALU_EQUAL }, { "ne", ALU_LESS | ALU_GREATER }, { "lt", ALU_LESS }, { "le", ALU_LESS | ALU_EQUAL },
	{ "gt", ALU_GREATER }, { "ge", ALU_GREATER | ALU_EQUAL },
	{ "lo", ALU_UNSIGNED | ALU_LESS }, { "ls", ALU_UNSIGNED | ALU_LESS | ALU_EQUAL },
	{ "hi", ALU_UNSIGNED | ALU_GREATER }, { "hs", ALU_UNSIGNED | ALU_GREATER | ALU_EQUAL },
	{ "equ", ALU_UNORDERED | ALU_EQUAL }, { "neu", ALU_UNORDERED | ALU_LESS | ALU_GREATER },
	{ "ltu", ALU_UNORDERED | ALU_LESS }, { "leu", ALU_UNORDERED | ALU_LESS | ALU_EQUAL },
	{ "gtu", ALU_UNORDERED | ALU_GREATER }, { "geu", ALU_UNORDERED | ALU_GREATER | ALU_EQUAL },
	{ "num", ALU_LESS | ALU_EQUAL | ALU_GREATER }, { "nan", ALU_UNORDERED }, { NULL, 0 },
};

static const struct word boolops[] = {
	{ "and", ALU_AND }, { "or", ALU_OR }, { "xor", ALU_XOR }, { NULL, 0 },
};

static bool same(struct ptx_str str, const char *text)
{
	return strlen(text) == str.n && memcmp(text, str.s, str.n) == 0;
}

static const struct word *find(const struct word *words, struct ptx_str str)
{
	while (words->text && !same(str, words->text))
		words++;
	return words;
}

enum alu_type alu_type_of(struct ptx_str name)
{
	return find(types, name)->value;
}

/* Takes the next word off the front: what is before a dot, and the dot. */
static bool take(struct ptx_str *op, struct ptx_str *word)
{
	const char *dot = op->n ? memchr(op->s, '.', op->n) : NULL;
	size_t n = dot ? (size_t)(dot - op->s) : op->n;

	*word = (struct ptx_str){ op->s, n };
	op->s += n + (dot != NULL);
	op->n -= n + (dot != NULL);
	return n > 0;
}

/* A comparison's "lo" is a flag elsewhere, so that a row's own words come first. */
static bool word(const struct alu_row *row, struct alu_insn *insn, struct alu_words *words, struct ptx_str str)
{
	const struct word *w;
	unsigned i;

	for (i = 0; row->modes && row->modes[i]; i++)
		if (same(str, row->modes[i])) {
			if (insn->mode)
				return false;
			insn->mode = i + 1;
			return true;
		}
	if (row->cmp && !insn->cmp && (w = find(comparisons, str))->text) {
		insn->cmp = w->value;
		return true;
	}
	if (row->boolop && !insn->boolop && (w = find(boolops, str))->text) {
		insn->boolop = w->value;
		return true;
	}
	if ((w = find(types, str))->text) {
		if (words->types == 3)
			return false;
		words->type[words->types++] = w->value;
		return true;
	}
	if ((w = find(flags, str))->text) {
		if (!((row->need | row->may) & w->value) || (insn->flags & w->value))
			return false;
		insn->flags |= w->value;
		return true;
	}
	w = find(rounds, str);
	if (!w->text || !(row->rounds >> w->value & 1) || words->rounds++)
		return false;
	insn->round = w->value;
	return true;
}

static enum alu_type wide(enum alu_type type)
{
	return type == ALU_B8 || type == ALU_B16 || type == ALU_B32 || type == ALU_U8 || type == ALU_U16 ||
		type == ALU_U32 || type == ALU_S8 || type == ALU_S16 || type == ALU_S32 ? type + 1 : type;
}

static enum alu_type letter(const struct alu_insn *insn, char c)
{
	switch (c) {
	case 't': return insn->type;
	case 's': return insn->type2;
	case 'w': return wide(insn->type);
	case 'u': return ALU_U32;
	case 'i': return ALU_S32;
	case 'b': return ALU_B32;
	case 'q': return ALU_B64;
	case 'h': return ALU_B16;
	case 'f': return ALU_F32;
	default: return ALU_PRED;
	}
}

static bool shape(const struct alu_row *row, struct alu_insn *insn, int operands)
{
	const char *in = strchr(row->shape, ':') + 1;

	if (operands != (int)strlen(in))
		return false;
	insn->operands = operands;
	insn->results = in - 1 - row->shape;
	for (unsigned i = 0; i < insn->results; i++)
		insn->out[i] = letter(insn, row->shape[i]);
	for (int i = 0; i < operands; i++)
		insn->in[i] = letter(insn, in[i]);
	return true;
}

static bool fits(const struct alu_row *row, struct alu_insn *insn, struct ptx_str op, int operands)
{
	struct alu_words words = { 0 };
	struct ptx_str str;

	*insn = (struct alu_insn){ .run = row->run, .cycles = row->cycles ? row->cycles : 4 };
	while (op.n)
		if (!take(&op, &str) || !word(row, insn, &words, str))
			return false;
	if ((insn->flags & row->need) != row->need || ((row->rounds & ALU_ROUNDED) && !words.rounds) ||
	    (row->mode && !insn->mode) || (row->cmp && !insn->cmp) || (row->boolop && !insn->boolop))
		return false;
	if (words.types == 0 || (row->types2 ? words.types < 2 : words.types > 1))
		return false;
	insn->type = words.type[0];
	insn->type2 = words.type[words.types - 1];
	if (!alu_is(insn->type, row->types) || (row->types2 && !alu_is(insn->type2, row->types2)))
		return false;
	if (!shape(row, insn, operands))
		return false;
	return row->check ? row->check(insn, &words) : words.types < 3;
}

static bool decode(const struct alu_row *row, struct alu_insn *insn, struct ptx_str name, struct ptx_str rest,
		   int operands)
{
	for (; row->name; row++)
		if (same(name, row->name) && fits(row, insn, rest, operands))
			return true;
	return false;
}

bool alu_decode(struct alu_insn *insn, struct ptx_str op, int operands)
{
	static const struct alu_row *const tables[] = {
		alu_int_rows, alu_mul_rows, alu_bit_rows, alu_field_rows, alu_cmp_rows, alu_float_rows,
		alu_approx_rows, alu_minmax_rows, alu_half_rows, alu_cvt_rows, alu_pack_rows, alu_video_rows,
		alu_simd_rows,
	};
	struct ptx_str name;

	if (!take(&op, &name) || op.n == 0 || op.s[op.n - 1] == '.')
		return false;
	for (unsigned i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (decode(tables[i], insn, name, op, operands))
			return true;
	return false;
}

void alu_run(const struct alu_insn *insn, uint64_t *result, const uint64_t *operand, uint32_t *carry)
{
	insn->run(insn, result, operand, carry);
}
