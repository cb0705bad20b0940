/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the files of alu.h share: the table of instructions, and access to values. */
#ifndef TESTS_SIM_INTERP_ALU_OPS_H
#define TESTS_SIM_INTERP_ALU_OPS_H
#include "alu.h"
#include <math.h>
#include <string.h>

#define T(type) (1u << ALU_##type)
#define ALU_INTS (T(U16) | T(U32) | T(U64) | T(S16) | T(S32) | T(S64))
#define ALU_WORDS (T(U32) | T(U64) | T(S32) | T(S64))
#define ALU_BITS (T(B16) | T(B32) | T(B64))
#define ALU_HALVES (T(F16) | T(F16X2) | T(BF16) | T(BF16X2))

/* Roundings that a row allows. */
#define ALU_ROUND(round) (1u << ALU_##round)
#define ALU_IEEE (ALU_ROUND(RN) | ALU_ROUND(RZ) | ALU_ROUND(RM) | ALU_ROUND(RP))
#define ALU_INTEGRAL (ALU_ROUND(RNI) | ALU_ROUND(RZI) | ALU_ROUND(RMI) | ALU_ROUND(RPI))
#define ALU_ROUNDED (1u << 15)	/* one of them must be said */

/* Flags of the files themselves. */
enum {
	ALU_RIGHT = 1 << 16,	/* shf.r */
	ALU_CLAMP = 1 << 17,
	ALU_FINITE = 1 << 18,	/* .satfinite */
	ALU_PACK = 1 << 19,
	ALU_PLUS = 1 << 20,	/* .po */
};

/* How two values compare, a bit each: insn->cmp has those for which the comparison is true. */
enum { ALU_LESS = 1, ALU_EQUAL = 2, ALU_GREATER = 4, ALU_UNORDERED = 8, ALU_UNSIGNED = 16 };
enum { ALU_AND = 1, ALU_OR, ALU_XOR };

/* Return true for eq, ne, lt, le, gt and ge, and with is_unsigned lo, ls, hi and hs. */
static inline bool alu_plain_cmp(unsigned cmp, bool is_unsigned)
{
	return (cmp & ~(is_unsigned ? ALU_UNSIGNED : 0u)) < (ALU_LESS | ALU_EQUAL | ALU_GREATER);
}


typedef void alu_fn(const struct alu_insn *insn, uint64_t *d, const uint64_t *s, uint32_t *carry);

struct alu_words;

/* A form of an instruction: a name can have several rows, and the first that has all of the text's words is it. */
struct alu_row {
	const char *name;
	alu_fn *run;
	/* types of results, a colon, those of operands: t the first type of the text, s the last, w one twice as
	 * wide as t, u and i 32-bit integers, b q 32 and 64 bits, h 16 bits, f an f32, p a predicate */
	const char *shape;
	uint32_t types, types2;		/* masks of T(); no types2: the text has one type */
	unsigned need, may;		/* flags */
	unsigned rounds;
	const char *const *modes;	/* words that are the row's own, up to NULL: insn->mode is the index, from 1 */
	bool mode, cmp, boolop;		/* must be there; modes without mode can be left out */
	unsigned char cycles;		/* 0: 4 */
	/* What a row cannot say: returns false if the words do not go together; may change insn. */
	bool (*check)(struct alu_insn *insn, const struct alu_words *words);
};

/* What an instruction's text said. */
struct alu_words {
	unsigned types, rounds;		/* how many */
	enum alu_type type[3];
};

/* Ends with a row without a name. */
extern const struct alu_row alu_int_rows[], alu_mul_rows[], alu_bit_rows[], alu_field_rows[], alu_cmp_rows[],
	alu_float_rows[], alu_approx_rows[], alu_minmax_rows[], alu_half_rows[], alu_cvt_rows[], alu_pack_rows[],
	alu_video_rows[], alu_simd_rows[];

static inline bool alu_signed(unsigned type)
{
	return type >= ALU_S8 && type <= ALU_S64;
}

static inline bool alu_is(unsigned type, uint32_t types)
{
	return types >> type & 1;
}

extern const unsigned char alu_widths[ALU_TYPES];

static inline uint64_t alu_zero_extend(unsigned bits, uint64_t v)
{
	return v << (64 - bits) >> (64 - bits);
}

static inline uint64_t alu_sign_extend(unsigned bits, uint64_t v)
{
	return (uint64_t)((int64_t)(v << (64 - bits)) >> (64 - bits));
}

/* Returns v extended to 64 bits by its type. */
static inline uint64_t alu_fit(unsigned type, uint64_t v)
{
	unsigned bits = alu_widths[type];

	return alu_signed(type) ? alu_sign_extend(bits, v) : alu_zero_extend(bits, v);
}

/* Returns a, low or high, whichever is nearest. */
static inline int64_t alu_clamp(int64_t a, int64_t low, int64_t high)
{
	return a < low ? low : a > high ? high : a;
}

static inline float alu_f32(uint64_t v)
{
	uint32_t bits = (uint32_t)v;
	float f;

	memcpy(&f, &bits, 4);
	return f;
}

static inline double alu_f64(uint64_t v)
{
	double f;

	memcpy(&f, &v, 8);
	return f;
}

static inline uint64_t alu_bits32(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, 4);
	return bits;
}

static inline uint64_t alu_bits64(double f)
{
	uint64_t bits;

	memcpy(&bits, &f, 8);
	return bits;
}

/* The NaN that instructions return. */
#define ALU_NAN32 0x7fffffffull
#define ALU_NAN64 0xfff8000000000000ull

/* An f32 operand, and a result, by .ftz and .sat. */
static inline float alu_flush(const struct alu_insn *insn, float f)
{
	return (insn->flags & ALU_FTZ) && fabsf(f) < 0x1p-126f ? copysignf(0, f) : f;
}

static inline float alu_in32(const struct alu_insn *insn, uint64_t v)
{
	return alu_flush(insn, alu_f32(v));
}

static inline uint64_t alu_out32(const struct alu_insn *insn, float f)
{
	if (insn->flags & ALU_SAT)
		return f > 0 ? alu_bits32(f < 1 ? alu_flush(insn, f) : 1) : 0;
	return f != f ? ALU_NAN32 : alu_bits32(alu_flush(insn, f));
}

static inline uint64_t alu_out64(double f)
{
	return f != f ? ALU_NAN64 : alu_bits64(f);
}

#endif
