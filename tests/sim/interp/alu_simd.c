/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Video instructions of two halves or four bytes, and the selectors of both kinds. */
#include "alu_video.h"

#define OP(name) static void name(const struct alu_insn *insn, uint64_t *d, const uint64_t *s, \
				  uint32_t *carry __attribute__((unused)))

/* Three bits for each element: two in part[1 + i], one in part[4 + i]; part[0] is the mask of the destination. */
void simd_choose(struct alu_insn *insn, unsigned i, unsigned element, unsigned from)
{
	unsigned at = element * 2;

	insn->part[1 + i] = (unsigned char)((insn->part[1 + i] & ~(3u << at)) | (from & 3) << at);
	insn->part[4 + i] = (unsigned char)((insn->part[4 + i] & ~(1u << element)) | (from >> 2) << element);
}

unsigned simd_chosen(const struct alu_insn *insn, unsigned i, unsigned element)
{
	return (insn->part[1 + i] >> element * 2 & 3) | (insn->part[4 + i] >> element & 1) << 2;
}

static int64_t operand(const struct alu_insn *insn, unsigned i, unsigned element, bool is_signed, const uint64_t *s)
{
	unsigned bits = 32 / video_elements(insn);
	uint64_t v = ((s[0] & UINT32_MAX) | s[1] << 32) >> simd_chosen(insn, i, element) * bits;

	return (int64_t)(is_signed ? alu_sign_extend(bits, v) : alu_zero_extend(bits, v));
}

static int64_t saturate(const struct alu_insn *insn, unsigned bits, int64_t v)
{
	bool is_signed = insn->out[0] == ALU_S32;
	int64_t high = (1 << (bits - is_signed)) - 1;

	return insn->flags & ALU_SAT ? alu_clamp(v, is_signed ? -high - 1 : 0, high) : v;
}

/* insn->mode is 1 for .add: the sum of the elements and c. */
OP(simd)
{
	unsigned n = video_elements(insn), bits = 32 / n;
	uint64_t result = s[2];

	for (unsigned i = 0; i < n; i++) {
		uint64_t mask = ((1ull << bits) - 1) << i * bits;
		int64_t v;

		if (!(insn->part[0] >> i & 1))
			continue;
		v = video_compute(insn, operand(insn, 0, i, video_signed(insn), s),
				  operand(insn, 1, i, insn->type2 == ALU_S32, s));
		v = saturate(insn, bits, v);
		result = insn->mode ? result + (uint64_t)v : (result & ~mask) | ((uint64_t)v << i * bits & mask);
	}
	d[0] = alu_fit(insn->out[0], result);
}

static bool known(struct alu_insn *insn, const struct alu_words *words, unsigned what, unsigned elements)
{
	unsigned types = what == VSET ? 2 : 3;

	for (unsigned i = 0; i < types; i++)
		if (words->type[i] != ALU_U32 && words->type[i] != ALU_S32)
			return false;
	video_set(insn, what, elements, words->type[types - 2] == ALU_S32);
	insn->part[0] = (unsigned char)((1u << elements) - 1);
	for (unsigned i = 0; i < elements; i++) {
		simd_choose(insn, 0, i, i);
		simd_choose(insn, 1, i, elements + i);
	}
	if (what == VSET && !alu_plain_cmp(insn->cmp, insn->type2 == ALU_U32))
		return false;
	return words->types == types && !(insn->mode && (insn->flags & ALU_SAT));
}

#define KNOWN_OF(name, what, n) \
	static bool name(struct alu_insn *insn, const struct alu_words *words) { return known(insn, words, what, n); }
#define KNOWN(name, what) KNOWN_OF(name##2, what, 2) KNOWN_OF(name##4, what, 4)
KNOWN(is_add, VADD)
KNOWN(is_sub, VSUB)
KNOWN(is_absdiff, VABSDIFF)
KNOWN(is_min, VMIN)
KNOWN(is_max, VMAX)
KNOWN(is_avrg, VAVRG)
KNOWN(is_set, VSET)

static unsigned digit(struct ptx_str str, size_t i, unsigned limit)
{
	unsigned v = (unsigned char)str.s[i] - (unsigned)'0';

	return v < limit ? v : limit;
}

/* "b0" … "b3", "h0", "h1" of the destination, of a or of b */
static bool select_scalar(struct alu_insn *insn, int i, struct ptx_str str)
{
	bool byte = str.s[0] == 'b';
	unsigned limit = byte ? 4 : 2, v = digit(str, 1, limit);

	if (str.n != 2 || v == limit || i > 1 || (i < 0 && (insn->operands < 3 || insn->mode)))
		return false;
	insn->part[i + 1] = (unsigned char)(byte ? 1 + v : 5 + v);
	return true;
}

/* The elements that are written, from the highest: "b310" */
static bool select_mask(struct alu_insn *insn, struct ptx_str str)
{
	unsigned n = video_elements(insn), last = n;

	insn->part[0] = 0;
	for (size_t i = 1; i < str.n; i++) {
		unsigned v = digit(str, i, n);

		if (v >= last)
			return false;
		insn->part[0] |= (unsigned char)(1u << v);
		last = v;
	}
	return true;
}

/* Those of a and b that each element is from, the highest first: "b7210" */
static bool select_elements(struct alu_insn *insn, int i, struct ptx_str str)
{
	unsigned n = video_elements(insn);

	if (str.n != n + 1)
		return false;
	for (unsigned e = 0; e < n; e++) {
		unsigned v = digit(str, n - e, 2 * n);

		if (v == 2 * n)
			return false;
		simd_choose(insn, (unsigned)i, e, v);
	}
	return true;
}

bool alu_select(struct alu_insn *insn, int i, struct ptx_str str)
{
	unsigned n = video_elements(insn);

	if (n == 0 || i < -1 || i > 1 || str.n < 2 || (str.s[0] != 'b' && str.s[0] != 'h'))
		return false;
	if (n == 1)
		return video_what(insn) == VMAD && i < 0 ? false : select_scalar(insn, i, str);
	if (str.s[0] != (n == 4 ? 'b' : 'h'))
		return false;
	return i < 0 ? select_mask(insn, str) : select_elements(insn, i, str);
}

static const char *const seconds[] = { "add", NULL };

#define BOTH (T(U32) | T(S32))
#define SIMD(name, is) \
	{ name "2", simd, "t:bbb", BOTH, BOTH, .may = ALU_SAT, .modes = seconds, .check = is##2, .cycles = 8 }, \
	{ name "4", simd, "t:bbb", BOTH, BOTH, .may = ALU_SAT, .modes = seconds, .check = is##4, .cycles = 8 }

const struct alu_row alu_simd_rows[] = {
	SIMD("vadd", is_add),
	SIMD("vsub", is_sub),
	SIMD("vabsdiff", is_absdiff),
	SIMD("vmin", is_min),
	SIMD("vmax", is_max),
	SIMD("vavrg", is_avrg),
	{ "vset2", simd, "u:bbb", BOTH, BOTH, .modes = seconds, .cmp = true, .check = is_set2, .cycles = 8 },
	{ "vset4", simd, "u:bbb", BOTH, BOTH, .modes = seconds, .cmp = true, .check = is_set4, .cycles = 8 },
	{ 0 },
};
