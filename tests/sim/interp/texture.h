/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What texture and surface instructions read, write and say of a struct interp_texture: tex, tld4, txq, suld, sust, sured,
 * suq.  One lane. */
#ifndef TESTS_SIM_INTERP_TEXTURE_H
#define TESTS_SIM_INTERP_TEXTURE_H
#include "ptx/ptx.h"
#include "interp.h"

struct texture_insn {
	unsigned char op;		/* texture.c's own, as are geometry, boundary, mode */
	unsigned char geometry, boundary, mode;
	unsigned char type;		/* enum alu_type: of the results, or of what sust and sured write */
	unsigned char coord_type;	/* of the coordinates, where they may be literals */
	unsigned char coords;		/* elements of the coordinates' vector: at least; padding may follow */
	unsigned char results;		/* registers written: 4 for tex….v4; 0 for sust */
	unsigned char values;		/* values after the brackets: what sust writes, the level of tex.level … */
	bool store;			/* sust and sured: the brackets come first */
};

/* Decodes "tex.2d.v4.f32.s32"; false if it is not known. */
bool texture_decode(struct texture_insn *insn, struct ptx_str op);

/* Runs it: coord has the elements of the vector in the brackets (a layer first, as in the text), value those of the
 * operands after the brackets.  Texels are read and written in the process's memory.  Returns false if a surface has no
 * such place and the instruction says .trap, or the texture is not of that geometry. */
bool texture_run(const struct texture_insn *insn, const struct interp_texture *texture, uint64_t *result,
		 const uint64_t *coord, const uint64_t *value);

#endif
