/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Sums, differences and quotients of integers.  What overflows wraps: unsigned arithmetic serves both signs. */
#include "alu_ops.h"

#define OP(name) static void name(const struct alu_insn *insn, uint64_t *d, const uint64_t *s, \
				  uint32_t *carry __attribute__((unused)))

OP(add)
{
	d[0] = alu_fit(insn->type, s[0] + s[1]);
}

OP(sub)
{
	d[0] = alu_fit(insn->type, s[0] - s[1]);
}

static uint64_t saturate(int64_t a)
{
	return (uint64_t)alu_clamp(a, INT32_MIN, INT32_MAX);
}

OP(add_sat)
{
	(void)insn;
	d[0] = saturate((int64_t)(int32_t)s[0] + (int32_t)s[1]);
}

OP(sub_sat)
{
	(void)insn;
	d[0] = saturate((int64_t)(int32_t)s[0] - (int32_t)s[1]);
}

static uint64_t halves(uint64_t low, uint64_t high)
{
	return (low & 0xffff) | (high & 0xffff) << 16;
}

OP(add2)
{
	(void)insn;
	d[0] = halves(s[0] + s[1], (s[0] >> 16) + (s[1] >> 16));
}

/* insn->op says that the carry is read. */
OP(add_carry)
{
	unsigned bits = alu_widths[insn->type];
	unsigned __int128 sum = (unsigned __int128)alu_zero_extend(bits, s[0]) + alu_zero_extend(bits, s[1]);

	sum += insn->op ? *carry : 0;
	d[0] = alu_fit(insn->type, (uint64_t)sum);
	if (insn->flags & ALU_CC)
		*carry = sum >> bits & 1;
}

OP(sub_carry)
{
	unsigned bits = alu_widths[insn->type];
	unsigned __int128 sum = (unsigned __int128)alu_zero_extend(bits, s[0]) - alu_zero_extend(bits, s[1]);

	sum -= insn->op ? *carry : 0;
	d[0] = alu_fit(insn->type, (uint64_t)sum);
	if (insn->flags & ALU_CC)
		*carry = sum >> bits & 1;
}

static bool reads_carry(struct alu_insn *insn, const struct alu_words *words)
{
	insn->op = 1;
	/* ptxas takes 16 bits, too, but they leave no carry */
	return words->types == 1 && !((insn->flags & ALU_CC) && alu_widths[insn->type] == 16);
}

/* What the GPU's code for division gives: all ones for a divisor of 0, also as the remainder. */
OP(divide)
{
	uint64_t a = alu_fit(insn->type, s[0]), b = alu_fit(insn->type, s[1]);

	if (b == 0)
		d[0] = alu_fit(insn->type, UINT64_MAX);
	else if (!alu_signed(insn->type))
		d[0] = a / b;
	else
		d[0] = alu_fit(insn->type, b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b));
}

OP(rem)
{
	uint64_t a = alu_fit(insn->type, s[0]), b = alu_fit(insn->type, s[1]);

	if (b == 0)
		d[0] = alu_fit(insn->type, UINT64_MAX);
	else if (!alu_signed(insn->type))
		d[0] = a % b;
	else
		d[0] = b == UINT64_MAX ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
}

static bool less(unsigned type, uint64_t a, uint64_t b)
{
	return alu_signed(type) ? (int64_t)a < (int64_t)b : a < b;
}

OP(sad)
{
	uint64_t a = alu_fit(insn->type, s[0]), b = alu_fit(insn->type, s[1]);

	d[0] = alu_fit(insn->type, s[2] + (less(insn->type, a, b) ? b - a : a - b));
}

OP(absolute)
{
	uint64_t a = alu_fit(insn->type, s[0]);

	d[0] = alu_fit(insn->type, (int64_t)a < 0 ? 0 - a : a);
}

OP(neg)
{
	d[0] = alu_fit(insn->type, 0 - s[0]);
}

/* min and max differ in insn->op. */
static uint64_t choose(const struct alu_insn *insn, unsigned type, uint64_t a, uint64_t b)
{
	uint64_t r = less(type, a, b) == (insn->op == 0) ? a : b;

	return (insn->flags & ALU_RELU) && (int64_t)r < 0 ? 0 : r;
}

OP(minmax)
{
	d[0] = choose(insn, insn->type, alu_fit(insn->type, s[0]), alu_fit(insn->type, s[1]));
}

OP(minmax2)
{
	unsigned type = insn->type == ALU_S16X2 ? ALU_S16 : ALU_U16;

	d[0] = halves(choose(insn, type, alu_fit(type, s[0]), alu_fit(type, s[1])),
		      choose(insn, type, alu_fit(type, s[0] >> 16), alu_fit(type, s[1] >> 16)));
}

static bool is_max(struct alu_insn *insn, const struct alu_words *words)
{
	insn->op = 1;
	return words->types == 1;
}

#define SIGNED (T(S16) | T(S32) | T(S64))

const struct alu_row alu_int_rows[] = {
	{ "add", add, "t:tt", .types = ALU_INTS },
	{ "add", add_sat, "t:tt", .types = T(S32), .need = ALU_SAT },
	{ "add", add2, "t:tt", .types = T(U16X2) | T(S16X2) },
	{ "add", add_carry, "t:tt", .types = ALU_WORDS, .need = ALU_CC },
	{ "addc", add_carry, "t:tt", .types = ALU_INTS, .may = ALU_CC, .check = reads_carry },
	{ "sub", sub, "t:tt", .types = ALU_INTS },
	{ "sub", sub_sat, "t:tt", .types = T(S32), .need = ALU_SAT },
	{ "sub", sub_carry, "t:tt", .types = ALU_WORDS, .need = ALU_CC },
	{ "subc", sub_carry, "t:tt", .types = ALU_INTS, .may = ALU_CC, .check = reads_carry },
	{ "div", divide, "t:tt", .types = ALU_INTS, .cycles = 40 },
	{ "rem", rem, "t:tt", .types = ALU_INTS, .cycles = 40 },
	{ "sad", sad, "t:ttt", .types = ALU_INTS },
	{ "abs", absolute, "t:t", .types = SIGNED },
	{ "neg", neg, "t:t", .types = SIGNED },
	{ "min", minmax, "t:tt", .types = ALU_INTS },
	{ "min", minmax, "t:tt", .types = T(S32), .need = ALU_RELU },
	{ "min", minmax2, "t:tt", .types = T(U16X2) },
	{ "min", minmax2, "t:tt", .types = T(S16X2), .may = ALU_RELU },
	{ "max", minmax, "t:tt", .types = ALU_INTS, .check = is_max },
	{ "max", minmax, "t:tt", .types = T(S32), .need = ALU_RELU, .check = is_max },
	{ "max", minmax2, "t:tt", .types = T(U16X2), .check = is_max },
	{ "max", minmax2, "t:tt", .types = T(S16X2), .may = ALU_RELU, .check = is_max },
	{ 0 },
};
