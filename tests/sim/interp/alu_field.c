/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Counting and finding bits, and fields of bits. */
#include "alu_ops.h"

#define OP(name) static void name(const struct alu_insn *insn, uint64_t *d, const uint64_t *s, \
				  uint32_t *carry __attribute__((unused)))

OP(popc)
{
	d[0] = (unsigned)__builtin_popcountll(alu_fit(insn->type, s[0]));
}

OP(clz)
{
	uint64_t a = alu_fit(insn->type, s[0]);
	unsigned bits = alu_widths[insn->type];

	d[0] = a ? (unsigned)__builtin_clzll(a) - (64 - bits) : bits;
}

/* The highest bit that is 1, or of a negative number 0. */
OP(bfind)
{
	uint64_t a = alu_fit(insn->type, s[0]);
	unsigned bits = alu_widths[insn->type], at;

	if (alu_signed(insn->type) && (int64_t)a < 0)
		a = ~a;
	d[0] = UINT32_MAX;
	if (a) {
		at = 63 - (unsigned)__builtin_clzll(a);
		d[0] = insn->flags & ALU_SHIFTAMT ? bits - 1 - at : at;
	}
}

/* The |offset|-th bit that is 1, from base upwards or downwards. */
OP(fns)
{
	uint32_t mask = (uint32_t)s[0], base = (uint32_t)s[1];
	int32_t offset = (int32_t)s[2];
	int64_t left = offset < 0 ? -(int64_t)offset : offset;

	(void)insn;
	d[0] = UINT32_MAX;
	if (offset == 0 && base < 32 && (mask >> base & 1))
		d[0] = base;
	for (uint32_t at = base; left && at < 32; at += offset > 0 ? 1 : UINT32_MAX)
		if ((mask >> at & 1) && --left == 0)
			d[0] = at;
}

OP(brev)
{
	unsigned bits = alu_widths[insn->type];
	uint64_t r = 0;

	for (unsigned i = 0; i < bits; i++)
		r |= (s[0] >> i & 1) << (bits - 1 - i);
	d[0] = r;
}

/* Returns n ones, for n up to 64 and beyond. */
static uint64_t ones(unsigned n)
{
	return n < 64 ? (1ull << n) - 1 : UINT64_MAX;
}

OP(bfe)
{
	unsigned bits = alu_widths[insn->type], pos = s[1] & 0xff, len = s[2] & 0xff;
	uint64_t a = alu_zero_extend(bits, s[0]);
	unsigned last = pos + len - 1 < bits - 1 ? pos + len - 1 : bits - 1;
	uint64_t sign = alu_signed(insn->type) && len ? 0 - (a >> last & 1) : 0;
	unsigned have = pos >= bits ? 0 : len < bits - pos ? len : bits - pos;
	uint64_t field = have ? a >> pos & ones(have) : 0;

	d[0] = alu_fit(insn->type, field | (sign & ~ones(have)));
}

OP(bfi)
{
	unsigned bits = alu_widths[insn->type], pos = s[2] & 0xff, len = s[3] & 0xff;
	uint64_t mask = pos < bits ? ones(len) << pos : 0;

	d[0] = alu_fit(insn->type, pos < bits ? (s[1] & ~mask) | (s[0] << pos & mask) : s[1]);
}

OP(bmsk)
{
	bool clamp = insn->flags & ALU_CLAMP;
	uint32_t a = (uint32_t)s[0], b = (uint32_t)s[1];
	unsigned first = a & 31, end = first + (b & 31);
	uint32_t from = clamp && a >= 32 ? 0 : UINT32_MAX << first;
	uint32_t above = end >= 32 || (clamp && (a >= 32 || b >= 32)) ? 0 : UINT32_MAX << end;

	d[0] = from & ~above;
}

OP(szext)
{
	uint32_t a = (uint32_t)s[0], b = (uint32_t)s[1], mask;
	unsigned n = b & 31;
	bool whole = b >= 32 && (insn->flags & ALU_CLAMP);
	bool negative = n && !whole && insn->type == ALU_S32 && (a >> (n - 1) & 1);

	mask = whole ? 0 : UINT32_MAX << n;
	d[0] = alu_fit(insn->type, (a & ~mask) | (negative ? mask : 0));
}

static bool clamp_or_wrap(struct alu_insn *insn, const struct alu_words *words)
{
	return words->types == 1 && !(insn->flags & ALU_WRAP) != !(insn->flags & ALU_CLAMP);
}

const struct alu_row alu_field_rows[] = {
	{ "popc", popc, "u:t", .types = T(B32) | T(B64) },
	{ "clz", clz, "u:t", .types = T(B32) | T(B64) },
	{ "bfind", bfind, "u:t", .types = ALU_WORDS, .may = ALU_SHIFTAMT },
	{ "fns", fns, "t:tti", .types = T(B32) },
	{ "brev", brev, "t:t", .types = T(B32) | T(B64), .cycles = 8 },
	{ "bfe", bfe, "t:tuu", .types = ALU_WORDS },
	{ "bfi", bfi, "t:ttuu", .types = T(B32) | T(B64) },
	{ "bmsk", bmsk, "t:tt", .types = T(B32), .may = ALU_WRAP | ALU_CLAMP, .check = clamp_or_wrap },
	{ "szext", szext, "t:tu", .types = T(U32) | T(S32), .may = ALU_WRAP | ALU_CLAMP, .check = clamp_or_wrap },
	{ 0 },
};
