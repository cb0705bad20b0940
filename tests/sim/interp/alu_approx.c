/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What a GPU computes approximately is as good here as the CPU's library; its special cases are PTX ISA's. */
#include "alu_format.h"
#include "alu_ops.h"

#define OP(name) static void name(const struct alu_insn *insn, uint64_t *d, const uint64_t *s, \
				  uint32_t *carry __attribute__((unused)))
#define A alu_in32(insn, s[0])

OP(rcp) { d[0] = alu_out32(insn, 1 / A); }
OP(root) { d[0] = alu_out32(insn, sqrtf(A)); }
OP(inverse_root) { d[0] = alu_out32(insn, (float)(1 / sqrt((double)A))); }
OP(sine) { d[0] = alu_out32(insn, sinf(A)); }
OP(cosine) { d[0] = alu_out32(insn, cosf(A)); }
OP(lg2) { d[0] = alu_out32(insn, log2f(A)); }
OP(ex2) { d[0] = alu_out32(insn, exp2f(A)); }
OP(tangent) { d[0] = alu_out32(insn, tanhf(A)); }

OP(divide) { d[0] = alu_out32(insn, A / alu_in32(insn, s[1])); }

/* a * (1 / b): that reciprocal is flushed to 0 where b is very large. */
OP(div_approx)
{
	float b = alu_in32(insn, s[1]);

	if (fabsf(b) > 0x1p126f && isfinite(b))
		d[0] = alu_out32(insn, A * copysignf(0, b));
	else
		divide(insn, d, s, carry);
}

OP(rsqrt64)
{
	(void)insn;
	d[0] = alu_out64(1 / sqrt(alu_f64(s[0])));
}

/* .approx.ftz.f64 reads and writes the upper 32 bits alone. */
#define UPPER 0xffffffff00000000ull

static double flush64(double f)
{
	return fabs(f) < 0x1p-1022 ? copysign(0, f) : f;
}

OP(rcp_upper)
{
	(void)insn;
	d[0] = alu_out64(flush64(1 / flush64(alu_f64(s[0] & UPPER)))) & UPPER;
}

OP(rsqrt_upper)
{
	(void)insn;
	d[0] = alu_out64(flush64(1 / sqrt(flush64(alu_f64(s[0] & UPPER))))) & UPPER;
}

static uint64_t half(const struct alu_insn *insn, uint64_t v)
{
	const struct alu_format *format = alu_format_of(insn->type);
	double x = alu_unpack(format, v);

	return alu_round_to(format, insn->op ? tanh(x) : exp2(x), ALU_RN);
}

OP(halves)
{
	d[0] = half(insn, s[0]);
	if (insn->type == ALU_F16X2 || insn->type == ALU_BF16X2)
		d[0] |= half(insn, s[0] >> 16) << 16;
}

static bool is_tanh(struct alu_insn *insn, const struct alu_words *words)
{
	insn->op = 1;
	return words->types == 1;
}

#define APPROX .need = ALU_APPROX, .may = ALU_FTZ
#define APPROX_FTZ .need = ALU_APPROX | ALU_FTZ

const struct alu_row alu_approx_rows[] = {
	{ "rcp", rcp, "t:t", .types = T(F32), APPROX, .cycles = 18 },
	{ "rcp", rcp_upper, "t:t", .types = T(F64), APPROX_FTZ, .cycles = 18 },
	{ "sqrt", root, "t:t", .types = T(F32), APPROX, .cycles = 18 },
	{ "rsqrt", inverse_root, "t:t", .types = T(F32), APPROX, .cycles = 18 },
	{ "rsqrt", rsqrt64, "t:t", .types = T(F64), .need = ALU_APPROX, .cycles = 40 },
	{ "rsqrt", rsqrt_upper, "t:t", .types = T(F64), APPROX_FTZ, .cycles = 18 },
	{ "sin", sine, "t:t", .types = T(F32), APPROX, .cycles = 18 },
	{ "cos", cosine, "t:t", .types = T(F32), APPROX, .cycles = 18 },
	{ "lg2", lg2, "t:t", .types = T(F32), APPROX, .cycles = 18 },
	{ "ex2", ex2, "t:t", .types = T(F32), APPROX, .cycles = 18 },
	{ "ex2", halves, "t:t", .types = T(F16) | T(F16X2), .need = ALU_APPROX, .cycles = 18 },
	{ "ex2", halves, "t:t", .types = T(BF16) | T(BF16X2), APPROX_FTZ, .cycles = 18 },
	{ "tanh", tangent, "t:t", .types = T(F32), .need = ALU_APPROX, .cycles = 18 },
	{ "tanh", halves, "t:t", .types = ALU_HALVES, .need = ALU_APPROX, .cycles = 18, .check = is_tanh },
	{ "div", div_approx, "t:tt", .types = T(F32), APPROX, .cycles = 22 },
	{ "div", divide, "t:tt", .types = T(F32), .need = ALU_FULL, .may = ALU_FTZ, .cycles = 26 },
	{ 0 },
};
