/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "fast.h"
#include "alu_ops.h"
#include <math.h>
#include <string.h>

static inline uint64_t single_bits(float f)
{
	return f != f ? ALU_NAN32 : alu_bits32(f);
}

/* A function of lanes a[l], b[l], c[l] of type T, whose result is extended as T is. */
#define LANES(name, expression) \
	static void name(uint64_t *d, const uint64_t *a, const uint64_t *b, const uint64_t *c) \
	{ \
		(void)b, (void)c; \
		for (unsigned l = 0; l < 32; l++) \
			d[l] = (expression); \
	}
#define EACH(T, name, expression) LANES(name, (uint64_t)(T)(expression))
#define A(T) ((T)a[l])
#define B(T) ((T)b[l])
#define C(T) ((T)c[l])
#define INTEGER(T, t) \
	EACH(T, add_##t, A(T) + (uint64_t)B(T)) \
	EACH(T, sub_##t, A(T) - (uint64_t)B(T)) \
	EACH(T, mul_##t, a[l] * b[l]) \
	EACH(T, mad_##t, a[l] * b[l] + c[l]) \
	EACH(T, min_##t, A(T) < B(T) ? A(T) : B(T)) \
	EACH(T, max_##t, A(T) > B(T) ? A(T) : B(T)) \
	LANES(eq_##t, A(T) == B(T)) \
	LANES(ne_##t, A(T) != B(T)) \
	LANES(lt_##t, A(T) < B(T)) \
	LANES(le_##t, A(T) <= B(T)) \
	LANES(gt_##t, A(T) > B(T)) \
	LANES(ge_##t, A(T) >= B(T))
INTEGER(int32_t, s32)
INTEGER(uint32_t, u32)
INTEGER(int64_t, s64)
INTEGER(uint64_t, u64)
EACH(uint32_t, and_b32, a[l] & b[l])
EACH(uint32_t, or_b32, a[l] | b[l])
EACH(uint32_t, xor_b32, a[l] ^ b[l])
LANES(and_b64, a[l] & b[l])
LANES(or_b64, a[l] | b[l])
LANES(xor_b64, a[l] ^ b[l])
LANES(and_pred, a[l] & b[l] & 1)
LANES(or_pred, (a[l] | b[l]) & 1)
LANES(not_pred, !(a[l] & 1))
EACH(uint32_t, shl_b32, B(uint32_t) > 31 ? 0 : a[l] << (b[l] & 31))
LANES(shl_b64, B(uint32_t) > 63 ? 0 : a[l] << (b[l] & 63))
EACH(uint32_t, shr_u32, B(uint32_t) > 31 ? 0 : A(uint32_t) >> (b[l] & 31))
EACH(int32_t, shr_s32, A(int32_t) >> (B(uint32_t) > 31 ? 31 : (b[l] & 31)))
LANES(shr_u64, B(uint32_t) > 63 ? 0 : a[l] >> (b[l] & 63))
EACH(uint32_t, select_b32, c[l] & 1 ? a[l] : b[l])
EACH(int32_t, select_s32, c[l] & 1 ? a[l] : b[l])
LANES(select_b64, c[l] & 1 ? a[l] : b[l])
LANES(wide_s32, (uint64_t)((int64_t)A(int32_t) * B(int32_t)))
LANES(wide_u32, (uint64_t)A(uint32_t) * B(uint32_t))
LANES(mad_wide_s32, (uint64_t)((int64_t)A(int32_t) * B(int32_t)) + c[l])
LANES(mad_wide_u32, (uint64_t)A(uint32_t) * B(uint32_t) + c[l])
LANES(to_s32, (uint64_t)A(int32_t))
LANES(to_u32, (uint64_t)A(uint32_t))
LANES(add_f32, single_bits(alu_f32(a[l]) + alu_f32(b[l])))
LANES(sub_f32, single_bits(alu_f32(a[l]) - alu_f32(b[l])))
LANES(mul_f32, single_bits(alu_f32(a[l]) * alu_f32(b[l])))
LANES(lt_f32, alu_f32(a[l]) < alu_f32(b[l]))
LANES(gt_f32, alu_f32(a[l]) > alu_f32(b[l]))
LANES(lt_f64, alu_f64(a[l]) < alu_f64(b[l]))
LANES(gt_f64, alu_f64(a[l]) > alu_f64(b[l]))

#define INTEGER_ROWS(t) \
	{ "add." #t, 2, add_##t }, { "sub." #t, 2, sub_##t }, { "mul.lo." #t, 2, mul_##t }, { "mad.lo." #t, 3, mad_##t }, \
	{ "min." #t, 2, min_##t }, { "max." #t, 2, max_##t }, { "setp.eq." #t, 2, eq_##t }, { "setp.ne." #t, 2, ne_##t }, \
	{ "setp.lt." #t, 2, lt_##t }, { "setp.le." #t, 2, le_##t }, { "setp.gt." #t, 2, gt_##t }, { "setp.ge." #t, 2, ge_##t }
static const struct {
	const char *op;
	int sources;
	fast_fn *run;
} all[] = {
	INTEGER_ROWS(s32), INTEGER_ROWS(u32), INTEGER_ROWS(s64), INTEGER_ROWS(u64),
	{ "setp.eq.b32", 2, eq_u32 }, { "setp.ne.b32", 2, ne_u32 },
	{ "and.b32", 2, and_b32 }, { "or.b32", 2, or_b32 }, { "xor.b32", 2, xor_b32 },
	{ "and.b64", 2, and_b64 }, { "or.b64", 2, or_b64 }, { "xor.b64", 2, xor_b64 },
	{ "and.pred", 2, and_pred }, { "or.pred", 2, or_pred }, { "not.pred", 1, not_pred },
	{ "shl.b32", 2, shl_b32 }, { "shl.b64", 2, shl_b64 }, { "shr.u32", 2, shr_u32 }, { "shr.b32", 2, shr_u32 },
	{ "shr.s32", 2, shr_s32 }, { "shr.u64", 2, shr_u64 }, { "shr.b64", 2, shr_u64 },
	{ "selp.b32", 3, select_b32 }, { "selp.u32", 3, select_b32 }, { "selp.f32", 3, select_b32 },
	{ "selp.s32", 3, select_s32 }, { "selp.b64", 3, select_b64 }, { "selp.u64", 3, select_b64 },
	{ "selp.f64", 3, select_b64 }, { "mul.wide.s32", 2, wide_s32 }, { "mul.wide.u32", 2, wide_u32 },
	{ "mad.wide.s32", 3, mad_wide_s32 }, { "mad.wide.u32", 3, mad_wide_u32 }, { "cvt.s64.s32", 1, to_s32 },
	{ "cvt.u64.u32", 1, to_u32 }, { "cvt.u32.u64", 1, to_u32 },
	{ "add.f32", 2, add_f32 }, { "sub.f32", 2, sub_f32 }, { "mul.f32", 2, mul_f32 },
	{ "add.rn.f32", 2, add_f32 }, { "sub.rn.f32", 2, sub_f32 }, { "mul.rn.f32", 2, mul_f32 },
	{ "setp.lt.f32", 2, lt_f32 }, { "setp.gt.f32", 2, gt_f32 }, { "setp.lt.f64", 2, lt_f64 }, { "setp.gt.f64", 2, gt_f64 },
};

fast_fn *fast_find(struct ptx_str op, int sources)
{
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].sources == sources && ptx_str_is(op, all[i].op))
			return all[i].run;
	return NULL;
}
