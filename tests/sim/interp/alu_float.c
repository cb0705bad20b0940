/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What IEEE 754 defines, of f32 and f64, in four roundings.  Each function rounds as the CPU does at the moment;
 * rounded() sets that.  The functions are called through pointers, so that no compiler moves arithmetic out of it. */
#include "alu_format.h"
#include "alu_ops.h"
#include <fenv.h>

#define OP(name) static void name(const struct alu_insn *insn, uint64_t *d, const uint64_t *s, \
				  uint32_t *carry __attribute__((unused)))
#define A alu_in32(insn, s[0])
#define B alu_in32(insn, s[1])
#define C alu_in32(insn, s[2])

OP(add32) { d[0] = alu_out32(insn, A + B); }
OP(sub32) { d[0] = alu_out32(insn, A - B); }
OP(mul32) { d[0] = alu_out32(insn, A * B); }
OP(fma32) { d[0] = alu_out32(insn, fmaf(A, B, C)); }
OP(div32) { d[0] = alu_out32(insn, A / B); }
OP(rcp32) { d[0] = alu_out32(insn, 1 / A); }
OP(sqrt32) { d[0] = alu_out32(insn, sqrtf(A)); }

#undef A
#undef B
#undef C
#define A alu_f64(s[0])
#define B alu_f64(s[1])
#define C alu_f64(s[2])

OP(add64) { (void)insn; d[0] = alu_out64(A + B); }
OP(sub64) { (void)insn; d[0] = alu_out64(A - B); }
OP(mul64) { (void)insn; d[0] = alu_out64(A * B); }
OP(fma64) { (void)insn; d[0] = alu_out64(fma(A, B, C)); }
OP(div64) { (void)insn; d[0] = alu_out64(A / B); }
OP(rcp64) { (void)insn; d[0] = alu_out64(1 / A); }
OP(sqrt64) { (void)insn; d[0] = alu_out64(sqrt(A)); }

#undef A
#undef B
#undef C

/* Two f32 in a register. */
static void twice(alu_fn *run, const struct alu_insn *insn, uint64_t *d, const uint64_t *s)
{
	uint64_t low[3], high[3], r[2];

	for (unsigned i = 0; i < insn->operands; i++) {
		low[i] = s[i];
		high[i] = s[i] >> 32;
	}
	run(insn, &r[0], low, NULL);
	run(insn, &r[1], high, NULL);
	d[0] = r[0] | r[1] << 32;
}

OP(add32x2) { twice(add32, insn, d, s); }
OP(sub32x2) { twice(sub32, insn, d, s); }
OP(mul32x2) { twice(mul32, insn, d, s); }
OP(fma32x2) { twice(fma32, insn, d, s); }

/* The first operands are halves, the last one is an f32. */
static void mixed(alu_fn *run, const struct alu_insn *insn, uint64_t *d, const uint64_t *s)
{
	uint64_t f[3];

	for (unsigned i = 0; i < insn->operands; i++)
		f[i] = i + 1 == insn->operands ? s[i] :
			alu_bits32((float)alu_unpack(alu_format_of(insn->type2), s[i]));
	run(insn, d, f, NULL);
}

OP(add_mixed) { mixed(add32, insn, d, s); }
OP(sub_mixed) { mixed(sub32, insn, d, s); }
OP(fma_mixed) { mixed(fma32, insn, d, s); }

/* In the order of insn->op. */
static alu_fn *const functions[] = {
	add32, sub32, mul32, fma32, div32, rcp32, sqrt32, add64, sub64, mul64, fma64, div64, rcp64, sqrt64,
	add32x2, sub32x2, mul32x2, fma32x2, add_mixed, sub_mixed, fma_mixed,
};

static void rounded(const struct alu_insn *insn, uint64_t *d, const uint64_t *s, uint32_t *carry)
{
	static const int modes[] = {
		[ALU_RN] = FE_TONEAREST, [ALU_RZ] = FE_TOWARDZERO, [ALU_RM] = FE_DOWNWARD, [ALU_RP] = FE_UPWARD,
	};
	int before = fegetround();

	fesetround(modes[insn->round]);
	functions[insn->op](insn, d, s, carry);
	fesetround(before);
}

static bool rounds(struct alu_insn *insn, const struct alu_words *words)
{
	if (insn->round == ALU_RN)
		return words->types < 3;
	for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (functions[i] == insn->run)
			insn->op = i;
	insn->run = rounded;
	return words->types < 3;
}

#define FTZ_SAT .may = ALU_FTZ | ALU_SAT
#define MUST .rounds = ALU_IEEE | ALU_ROUNDED, .check = rounds
#define MAY .rounds = ALU_IEEE, .check = rounds

const struct alu_row alu_float_rows[] = {
	{ "add", add32, "t:tt", .types = T(F32), FTZ_SAT, MAY },
	{ "add", add32x2, "t:tt", .types = T(F32X2), .may = ALU_FTZ, MAY },
	{ "add", add64, "t:tt", .types = T(F64), .cycles = 8, MAY },
	{ "add", add_mixed, "t:st", .types = T(F32), T(F16) | T(BF16), .may = ALU_SAT, MAY },
	{ "sub", sub32, "t:tt", .types = T(F32), FTZ_SAT, MAY },
	{ "sub", sub32x2, "t:tt", .types = T(F32X2), .may = ALU_FTZ, MAY },
	{ "sub", sub64, "t:tt", .types = T(F64), .cycles = 8, MAY },
	{ "sub", sub_mixed, "t:st", .types = T(F32), T(F16) | T(BF16), .may = ALU_SAT, MAY },
	{ "mul", mul32, "t:tt", .types = T(F32), FTZ_SAT, MAY },
	{ "mul", mul32x2, "t:tt", .types = T(F32X2), .may = ALU_FTZ, MAY },
	{ "mul", mul64, "t:tt", .types = T(F64), .cycles = 8, MAY },
	{ "fma", fma32, "t:ttt", .types = T(F32), FTZ_SAT, MUST },
	{ "fma", fma32x2, "t:ttt", .types = T(F32X2), .may = ALU_FTZ, MUST },
	{ "fma", fma64, "t:ttt", .types = T(F64), .cycles = 8, MUST },
	{ "fma", fma_mixed, "t:sst", .types = T(F32), T(F16) | T(BF16), .may = ALU_SAT, MUST },
	{ "mad", fma32, "t:ttt", .types = T(F32), FTZ_SAT, MUST },
	{ "mad", fma64, "t:ttt", .types = T(F64), .cycles = 8, MUST },
	{ "div", div32, "t:tt", .types = T(F32), .may = ALU_FTZ, .cycles = 40, MUST },
	{ "div", div64, "t:tt", .types = T(F64), .cycles = 80, MUST },
	{ "rcp", rcp32, "t:t", .types = T(F32), .may = ALU_FTZ, .cycles = 30, MUST },
	{ "rcp", rcp64, "t:t", .types = T(F64), .cycles = 60, MUST },
	{ "sqrt", sqrt32, "t:t", .types = T(F32), .may = ALU_FTZ, .cycles = 30, MUST },
	{ "sqrt", sqrt64, "t:t", .types = T(F64), .cycles = 80, MUST },
	{ 0 },
};
