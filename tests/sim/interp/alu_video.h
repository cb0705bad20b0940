/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What alu_video.c and alu_simd.c share: insn->op has what is computed, of how many elements, and if a is signed. */
#ifndef TESTS_SIM_INTERP_ALU_VIDEO_H
#define TESTS_SIM_INTERP_ALU_VIDEO_H
#include "alu_ops.h"

enum { VADD, VSUB, VABSDIFF, VMIN, VMAX, VAVRG, VSET, VSHL, VSHR, VMAD };

static inline unsigned video_what(const struct alu_insn *insn)
{
	return insn->op & 0xff;
}

/* 1, 2 or 4; 0 of an instruction that is not one of these. */
static inline unsigned video_elements(const struct alu_insn *insn)
{
	return insn->op >> 8 & 7;
}

static inline bool video_signed(const struct alu_insn *insn)
{
	return insn->op >> 12;
}

static inline void video_set(struct alu_insn *insn, unsigned what, unsigned elements, bool is_signed)
{
	insn->op = what | elements << 8 | (unsigned)is_signed << 12;
}

/* VADD … VSET of two elements. */
int64_t video_compute(const struct alu_insn *insn, int64_t a, int64_t b);

/* Elements that a and b are taken from, for i = 0 and 1: at first as many as there are, from a and from b. */
void simd_choose(struct alu_insn *insn, unsigned i, unsigned element, unsigned from);
unsigned simd_chosen(const struct alu_insn *insn, unsigned i, unsigned element);

#endif
