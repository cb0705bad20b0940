/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* From a matrix instruction's text to its shape and types. */
#include "matrix_ops.h"
#include <string.h>

struct word {
	const char *text;
	unsigned value;
};

#define SHAPE(m, n, k) ((m) << 16 | (n) << 10 | (k))

static const struct word shapes[] = {
	{ "m16n16k16", SHAPE(16, 16, 16) }, { "m32n8k16", SHAPE(32, 8, 16) }, { "m8n32k16", SHAPE(8, 32, 16) },
	{ "m16n16k8", SHAPE(16, 16, 8) }, { "m8n8k4", SHAPE(8, 8, 4) }, { "m8n8k16", SHAPE(8, 8, 16) },
	{ "m8n8k32", SHAPE(8, 8, 32) }, { "m8n8k128", SHAPE(8, 8, 128) }, { "m16n8k4", SHAPE(16, 8, 4) },
	{ "m16n8k8", SHAPE(16, 8, 8) }, { "m16n8k16", SHAPE(16, 8, 16) }, { "m16n8k32", SHAPE(16, 8, 32) },
	{ "m16n8k64", SHAPE(16, 8, 64) }, { "m16n8k128", SHAPE(16, 8, 128) }, { "m16n8k256", SHAPE(16, 8, 256) },
	{ NULL, 0 },
};
static const struct word types[] = {
	{ "f16", M_F16 }, { "bf16", M_BF16 }, { "tf32", M_TF32 }, { "f32", M_F32 }, { "f64", M_F64 },
	{ "e4m3", M_E4M3 }, { "e5m2", M_E5M2 }, { "s32", M_S32 }, { "s8", M_S8 }, { "u8", M_U8 }, { "s4", M_S4 },
	{ "u4", M_U4 }, { "b1", M_B1 }, { NULL, 0 },
};
static const struct word spaces[] = {
	{ "global", MATRIX_GLOBAL }, { "shared", MATRIX_SHARED }, { "shared::cta", MATRIX_SHARED }, { NULL, 0 },
};
static const struct word operands[] = { { "a", MATRIX_A }, { "b", MATRIX_B }, { "c", MATRIX_C }, { NULL, 0 } };
static const struct word layouts[] = { { "row", 0 }, { "col", 1 }, { NULL, 0 } };
static const struct word counts[] = { { "x1", 1 }, { "x2", 2 }, { "x4", 4 }, { NULL, 0 } };

static bool same(struct ptx_str str, const char *text)
{
	return strlen(text) == str.n && memcmp(text, str.s, str.n) == 0;
}

static bool take(struct ptx_str *rest, const char *text)
{
	const char *dot = rest->n ? memchr(rest->s, '.', rest->n) : NULL;
	struct ptx_str word = { rest->s, dot ? (size_t)(dot - rest->s) : rest->n };

	if (!same(word, text))
		return false;
	rest->s += word.n + (dot != NULL);
	rest->n -= word.n + (dot != NULL);
	return true;
}

static bool one_of(struct ptx_str *rest, const struct word *list, unsigned *value)
{
	for (; list->text; list++)
		if (take(rest, list->text)) {
			*value = list->value;
			return true;
		}
	return false;
}

static bool shape(struct matrix_insn *insn, struct ptx_str *rest)
{
	unsigned v;

	if (!one_of(rest, shapes, &v))
		return false;
	insn->m = v >> 16;
	insn->n = v >> 10 & 63;
	insn->k = v & 1023;
	return true;
}

/* The shapes of factors of a type; as m, n, k. */
static bool is_shape(const struct matrix_insn *insn, unsigned m, unsigned n, unsigned k)
{
	return insn->m == m && insn->n == n && insn->k == k;
}

static bool wide_shape(const struct matrix_insn *insn)
{
	return is_shape(insn, 16, 16, 16) || is_shape(insn, 32, 8, 16) || is_shape(insn, 8, 32, 16);
}

static bool wmma_shape(const struct matrix_insn *insn, unsigned type)
{
	switch (type) {
	case M_F16: case M_BF16: case M_S8: case M_U8: return wide_shape(insn);
	case M_TF32: return is_shape(insn, 16, 16, 8);
	case M_F64: return is_shape(insn, 8, 8, 4);
	case M_S4: case M_U4: return is_shape(insn, 8, 8, 32);
	case M_B1: return is_shape(insn, 8, 8, 128);
	default: return false;
	}
}

/* f16 of m8n8k4 is four products at once, in a layout of its own, and of sm_70 alone: not known here. */
static bool mma_shape(const struct matrix_insn *insn, unsigned type)
{
	bool tall = insn->m == 16 && insn->n == 8, small = insn->m == 8 && insn->n == 8;

	switch (type) {
	case M_F16: case M_BF16: return tall && (insn->k == 8 || insn->k == 16);
	case M_TF32: return tall && (insn->k == 4 || insn->k == 8);
	case M_E4M3: case M_E5M2: return tall && (insn->k == 16 || insn->k == 32);
	case M_F64: return (small && insn->k == 4) || (tall && (insn->k == 4 || insn->k == 8 || insn->k == 16));
	case M_S8: case M_U8: return (small && insn->k == 16) || (tall && (insn->k == 16 || insn->k == 32));
	case M_S4: case M_U4: return (small && insn->k == 32) || (tall && (insn->k == 32 || insn->k == 64));
	case M_B1: return (small && insn->k == 128) || (tall && (insn->k == 128 || insn->k == 256));
	default: return false;
	}
}

static bool is_pair(unsigned a, unsigned x, unsigned y)
{
	return a == x || a == y;
}

/* Which types go together. */
static bool type_check(const struct matrix_insn *insn)
{
	unsigned d = insn->type[MATRIX_D], c = insn->type[MATRIX_C];
	unsigned a = insn->type[MATRIX_A], b = insn->type[MATRIX_B];

	if (a >= M_S8 ? d != M_S32 || c != M_S32 : insn->saturate)
		return false;
	switch (a) {
	case M_F16: return b == a && is_pair(d, M_F16, M_F32) && is_pair(c, M_F16, M_F32);
	case M_BF16: case M_TF32: return b == a && d == M_F32 && c == M_F32;
	case M_F64: return b == a && d == a && c == a;
	case M_E4M3: case M_E5M2: return is_pair(b, M_E4M3, M_E5M2) && d == c && is_pair(d, M_F16, M_F32);
	case M_S8: case M_U8: return is_pair(b, M_S8, M_U8);
	case M_S4: case M_U4: return is_pair(b, M_S4, M_U4);
	case M_B1: return b == a && !insn->saturate;
	default: return false;
	}
}

static bool four_types(struct matrix_insn *insn, struct ptx_str *rest)
{
	static const unsigned char order[] = { MATRIX_D, MATRIX_A, MATRIX_B, MATRIX_C };
	unsigned v;

	for (unsigned i = 0; i < 4; i++) {
		if (!one_of(rest, types, &v))
			return false;
		insn->type[order[i]] = (unsigned char)v;
	}
	return true;
}

static void registers(struct matrix_insn *insn)
{
	for (unsigned i = MATRIX_D; i <= MATRIX_C; i++)
		insn->regs[i] = (unsigned char)matrix_registers(insn, i);
}

/* wmma.mma{.xor|.and.popc}.sync.aligned.alayout.blayout.shape{.rnd}.d{.a.b}.c{.satfinite} */
static bool decode_wmma(struct matrix_insn *insn, struct ptx_str rest)
{
	bool logic = false, rounds;
	struct ptx_str two;
	unsigned a, b, d, c;

	if (take(&rest, "xor"))
		logic = insn->exclusive_or = true;
	else if (take(&rest, "and"))
		logic = true;
	if ((logic && !take(&rest, "popc")) || !take(&rest, "sync") || !take(&rest, "aligned") ||
	    !one_of(&rest, layouts, &a) || !one_of(&rest, layouts, &b) || !shape(insn, &rest))
		return false;
	rounds = take(&rest, "rn");
	two = rest;
	if (one_of(&two, types, &d) && one_of(&two, types, &c) && two.n == 0) {
		insn->type[MATRIX_D] = (unsigned char)d;
		insn->type[MATRIX_C] = (unsigned char)c;
		insn->type[MATRIX_A] = insn->type[MATRIX_B] = M_F16;
		rest = two;
	} else if (!four_types(insn, &rest)) {
		return false;
	}
	insn->saturate = take(&rest, "satfinite");
	if (rest.n || (rounds && insn->type[MATRIX_A] != M_F64) || !wmma_shape(insn, insn->type[MATRIX_A]) ||
	    !type_check(insn) || logic != (insn->type[MATRIX_A] == M_B1) || (matrix_bits(insn->type[MATRIX_A]) < 8 && (a || !b)))
		return false;
	registers(insn);
	return true;
}

/* mma.sync.aligned.shape.row.col{.satfinite}{.rn}.d.a.b.c{.xor|.and.popc} */
static bool decode_mma(struct matrix_insn *insn, struct ptx_str rest)
{
	bool logic = false, rounds;

	insn->sync = true;
	if (!shape(insn, &rest) || !take(&rest, "row") || !take(&rest, "col"))
		return false;
	insn->saturate = take(&rest, "satfinite");
	rounds = take(&rest, "rn");
	if (!four_types(insn, &rest))
		return false;
	if (take(&rest, "xor"))
		logic = insn->exclusive_or = true;
	else if (take(&rest, "and"))
		logic = true;
	if ((logic && !take(&rest, "popc")) || rest.n || (rounds && insn->type[MATRIX_A] != M_F64) ||
	    !mma_shape(insn, insn->type[MATRIX_A]) || !type_check(insn) || logic != (insn->type[MATRIX_A] == M_B1))
		return false;
	registers(insn);
	return true;
}

/* Which types a sum has with these shapes: those of its factors. */
static bool sum_shape(const struct matrix_insn *insn, unsigned type)
{
	switch (type) {
	case M_F16: return wide_shape(insn);
	case M_F32: return wide_shape(insn) || is_shape(insn, 16, 16, 8);
	case M_S32: return wide_shape(insn) || is_shape(insn, 8, 8, 32) || is_shape(insn, 8, 8, 128);
	case M_F64: return is_shape(insn, 8, 8, 4);
	default: return false;
	}
}

/* wmma.load.operand.sync.aligned.layout.shape{.space}.type, wmma.store.d… */
static bool decode_memory(struct matrix_insn *insn, struct ptx_str rest)
{
	unsigned v = MATRIX_D, type, space = MATRIX_GENERIC, layout;
	bool factor;

	if (insn->op == MATRIX_STORE ? !take(&rest, "d") : !one_of(&rest, operands, &v))
		return false;
	insn->which = (unsigned char)v;
	factor = v == MATRIX_A || v == MATRIX_B;
	if (!take(&rest, "sync") || !take(&rest, "aligned") || !one_of(&rest, layouts, &layout) || !shape(insn, &rest))
		return false;
	insn->col = layout;
	one_of(&rest, spaces, &space);
	insn->space = (unsigned char)space;
	if (!one_of(&rest, types, &type) || rest.n)
		return false;
	insn->type[v] = (unsigned char)type;
	if (factor ? !wmma_shape(insn, type) : !sum_shape(insn, type))
		return false;
	/* elements of less than a byte are packed along k */
	if (matrix_bits(type) < 8 && layout != (v == MATRIX_B))
		return false;
	insn->regs[0] = (unsigned char)matrix_registers(insn, v);
	return true;
}

/* ldmatrix.sync.aligned.m8n8.count{.trans}{.space}.b16, stmatrix; movmatrix.sync.aligned.m8n8.trans.b16 */
static bool decode_rows(struct matrix_insn *insn, struct ptx_str rest)
{
	unsigned space = MATRIX_GENERIC, n = 1;

	if (!take(&rest, "sync") || !take(&rest, "aligned") || !take(&rest, "m8n8"))
		return false;
	if (insn->op != MATRIX_MOVMATRIX && !one_of(&rest, counts, &n))
		return false;
	insn->transpose = take(&rest, "trans");
	if (insn->op == MATRIX_MOVMATRIX ? !insn->transpose : one_of(&rest, spaces, &space) && space != MATRIX_SHARED)
		return false;
	insn->space = (unsigned char)space;
	insn->regs[0] = (unsigned char)n;
	return take(&rest, "b16") && rest.n == 0;
}

bool matrix_decode(struct matrix_insn *insn, struct ptx_str op)
{
	*insn = (struct matrix_insn){ 0 };
	if (op.n == 0 || op.s[op.n - 1] == '.')
		return false;
	if (take(&op, "wmma")) {
		if (take(&op, "mma")) {
			insn->op = MATRIX_MMA;
			return decode_wmma(insn, op);
		}
		insn->op = take(&op, "store") ? MATRIX_STORE : MATRIX_LOAD;
		return (insn->op == MATRIX_STORE || take(&op, "load")) && decode_memory(insn, op);
	}
	if (take(&op, "mma")) {
		insn->op = MATRIX_MMA;
		return take(&op, "sync") && take(&op, "aligned") && decode_mma(insn, op);
	}
	insn->op = MATRIX_LDMATRIX;
	if (take(&op, "ldmatrix"))
		return decode_rows(insn, op);
	insn->op = MATRIX_STMATRIX;
	if (take(&op, "stmatrix"))
		return decode_rows(insn, op);
	insn->op = MATRIX_MOVMATRIX;
	return take(&op, "movmatrix") && decode_rows(insn, op);
}
