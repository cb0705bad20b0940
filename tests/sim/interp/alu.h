/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What PTX instructions without memory and control flow compute: pure functions of one lane's registers.  An
 * instruction is decoded once; interp.c then calls insn->run() for each lane.
 *
 * A value is 64 bits of a register.  Bits of an operand above the width of its type are arbitrary and ignored.  A
 * result is extended to 64 bits by its type: the sign of s8 … s64, zeros otherwise; predicates are 0 or 1.  (So
 * cvt.s8.s32 fills a wider register as it should.)  Packed types (f16x2) have their first element in the low bits.
 *
 * mov, cvta and isspacep are interp.c's, as are operands: immediates are given as in[] says (an f32 as its bits),
 * !%p as its value. */
#ifndef TESTS_SIM_INTERP_ALU_H
#define TESTS_SIM_INTERP_ALU_H
#include "ptx/ptx.h"
#include <stdbool.h>
#include <stdint.h>

enum alu_type {
	ALU_NONE,
	ALU_U8, ALU_U16, ALU_U32, ALU_U64,
	ALU_S8, ALU_S16, ALU_S32, ALU_S64,
	ALU_B8, ALU_B16, ALU_B32, ALU_B64, ALU_B128,
	ALU_F16, ALU_F16X2, ALU_BF16, ALU_BF16X2, ALU_F32, ALU_F64, ALU_TF32,
	ALU_F32X2, ALU_E4M3X2, ALU_E5M2X2, ALU_U16X2, ALU_S16X2,
	ALU_PRED,
	ALU_TYPES,
};

/* Return a type's bits: 1 for a predicate, 0 for ALU_NONE. */
unsigned alu_bits(enum alu_type type);
/* Return the type that this names ("f32", no dot), or ALU_NONE. */
enum alu_type alu_type_of(struct ptx_str name);

enum alu_round {
	ALU_RN, ALU_RZ, ALU_RM, ALU_RP, ALU_RNA,
	ALU_RNI, ALU_RZI, ALU_RMI, ALU_RPI,
};

enum { ALU_OPERANDS = 5, ALU_RESULTS = 2 };

/* Modifiers, in flags. */
enum {
	ALU_FTZ = 1 << 0,
	ALU_SAT = 1 << 1,	/* .sat, .satfinite */
	ALU_LO = 1 << 2,
	ALU_HI = 1 << 3,
	ALU_WIDE = 1 << 4,
	ALU_APPROX = 1 << 5,
	ALU_FULL = 1 << 6,
	ALU_CC = 1 << 7,	/* writes the carry; addc, subc and madc read it */
	ALU_NAN = 1 << 8,
	ALU_XORSIGN = 1 << 9,
	ALU_ABS = 1 << 10,
	ALU_RELU = 1 << 11,
	ALU_WRAP = 1 << 12,	/* shf, bmsk, szext: .wrap rather than .clamp */
	ALU_LEFT = 1 << 13,	/* shf.l */
	ALU_SHIFTAMT = 1 << 14,
	ALU_OOB = 1 << 15,
};

struct alu_insn {
	/* One lane: writes result[0], and result[1] if there are two; reads operand[0] to [operands - 1], and *carry (0
	 * or 1) if the instruction does.  Nothing of result overlaps operand. */
	void (*run)(const struct alu_insn *insn, uint64_t *result, const uint64_t *operand, uint32_t *carry);
	unsigned flags;
	unsigned short op;		/* alu.c's own, as are cmp … mode */
	unsigned char cmp, boolop, round, mode;
	unsigned char type, type2;	/* enum alu_type: the first and the last in the text */
	unsigned char operands;
	unsigned char results;		/* how many there can be: 2 for setp (p|q), lop3.and …, shf …; d|_ and d alone do */
	unsigned char out[ALU_RESULTS];	/* their types */
	unsigned char in[ALU_OPERANDS];
	unsigned char cycles;		/* until the result can be used: 4, more for division, fp64 … */
	unsigned char part[ALU_OPERANDS + 1];	/* see alu_select() */
};

/* Decodes "mad.lo.s32" with this number of operands (without the destination).  Returns false for an instruction, a
 * modifier or a number of operands that are not known. */
bool alu_decode(struct alu_insn *insn, struct ptx_str op, int operands);

/* Says that operand i (-1: the destination) of a video instruction has a selector: "h0", "b3", "b3210", "h10".  Returns
 * false if this instruction has none. */
bool alu_select(struct alu_insn *insn, int i, struct ptx_str selector);

/* One lane, as insn->run() does. */
void alu_run(const struct alu_insn *insn, uint64_t *result, const uint64_t *operand, uint32_t *carry);

#endif
