/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the files of texture.h share. */
#ifndef TESTS_SIM_INTERP_TEXTURE_OPS_H
#define TESTS_SIM_INTERP_TEXTURE_OPS_H
#include "texture.h"

enum { TEX, TLD4, TXQ, SULD, SUST, SURED };	/* insn->op; suq is TXQ */
enum { GEOM_1D = 1, GEOM_2D, GEOM_3D, GEOM_A1D, GEOM_A2D, GEOM_CUBE, GEOM_ACUBE };
enum { BOUND_TRAP = 1, BOUND_CLAMP, BOUND_ZERO };
/* insn->mode: of TLD4 the component, of TXQ the query, of SUST 1 if formatted (.p), of SURED below */
enum { SURED_ADD = 1, SURED_MIN, SURED_MAX, SURED_AND, SURED_OR, SURED_FORMATTED = 16 };
enum {
	QUERY_WIDTH = 1, QUERY_HEIGHT, QUERY_DEPTH, QUERY_TYPE, QUERY_ORDER, QUERY_NORMALIZED, QUERY_LAYERS,
	QUERY_LEVELS, QUERY_SAMPLES, QUERY_UNNORMALIZED, QUERY_FILTER, QUERY_ADDRESS0, QUERY_ADDRESS1,
	QUERY_ADDRESS2, QUERY_LAYOUT,
};

/* A texel: 32 bits of each channel, those of a float where is_float. */
struct texel {
	bool is_float;
	uint32_t bits[4];
	float value[4];
};

/* Returns the size in bytes of a texel. */
static inline unsigned texel_size(const struct interp_texture *t)
{
	return t->channels * t->bits / 8;
}

/* Reads the texel at a place that exists. */
void texel_read(const struct interp_texture *texture, uint64_t addr, struct texel *texel);
/* Writes one, from 32 bits of each channel. */
void texel_write(const struct interp_texture *texture, uint64_t addr, const uint64_t *value);

bool texture_sample(const struct texture_insn *insn, const struct interp_texture *texture, uint64_t *result,
		    const uint64_t *coord);
bool texture_query(const struct texture_insn *insn, const struct interp_texture *texture, uint64_t *result);
bool surface_access(const struct texture_insn *insn, const struct interp_texture *texture, uint64_t *result,
		    const uint64_t *coord, const uint64_t *value);

#endif
