/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Texels in memory, and what a texture says of itself. */
#include "texture_ops.h"
#include "alu_format.h"
#include <string.h>

static uint32_t load(uint64_t addr, unsigned bits)
{
	uint32_t v = 0;

	memcpy(&v, (const void *)(uintptr_t)addr, bits / 8);
	return v;
}

static float float_of(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, 4);
	return f;
}

static uint32_t bits_of(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, 4);
	return bits;
}

/* Integers of 8 and 16 bits can be read as fractions of the largest; the lowest two of signed ones are -1. */
static float fraction(const struct interp_texture *t, int64_t v)
{
	float f;

	if (t->type == 'u')
		return (float)v / (float)((1u << t->bits) - 1);
	f = (float)v / (float)((1u << (t->bits - 1)) - 1);
	return f < -1 ? -1 : f;
}

static void channel(const struct interp_texture *t, uint64_t addr, struct texel *texel, unsigned i)
{
	uint32_t v = load(addr, t->bits);
	int64_t n = t->type == 's' ? (int64_t)((uint64_t)v << (64 - t->bits)) >> (64 - t->bits) : (int64_t)v;

	if (t->type == 'f')
		texel->value[i] = t->bits == 16 ? (float)alu_unpack(&alu_half, v) : float_of(v);
	else if (texel->is_float)
		texel->value[i] = fraction(t, n);
	texel->bits[i] = texel->is_float ? bits_of(texel->value[i]) : (uint32_t)n;
}

/* Channels that a texture does not have are 0. */
void texel_read(const struct interp_texture *t, uint64_t addr, struct texel *texel)
{
	*texel = (struct texel){ .is_float = t->type == 'f' || (t->normalized_read && t->bits < 32) };
	for (unsigned i = 0; i < t->channels; i++)
		channel(t, addr + i * t->bits / 8, texel, i);
}

void texel_write(const struct interp_texture *t, uint64_t addr, const uint64_t *value)
{
	for (unsigned i = 0; i < t->channels; i++) {
		uint32_t v = (uint32_t)value[i];

		if (t->type == 'f' && t->bits == 16)
			v = (uint32_t)alu_round_to(&alu_half, (double)float_of(v), ALU_RN);
		memcpy((void *)(uintptr_t)(addr + i * t->bits / 8), &v, t->bits / 8);
	}
}

/* OpenCL's numbers, which PTX's are: CL_SNORM_INT8 … CL_FLOAT. */
static uint32_t data_type(const struct interp_texture *t)
{
	unsigned wide = t->bits == 8 ? 0 : t->bits == 16 ? 1 : 2;

	if (t->type == 'f')
		return t->bits == 16 ? 0x10dd : 0x10de;
	if (t->normalized_read && t->bits < 32)
		return (t->type == 's' ? 0x10d0 : 0x10d2) + wide;
	return (t->type == 's' ? 0x10d7 : 0x10da) + wide;
}

static uint32_t order(const struct interp_texture *t)
{
	/* CL_R, CL_RG, CL_RGB, CL_RGBA */
	static const uint32_t orders[] = { 0x10b0, 0x10b2, 0x10b4, 0x10b5 };

	return orders[t->channels - 1];
}

/* PTX ISA 5.3: wrap, mirror, clamp_ogl, clamp_to_edge, clamp_to_border. */
static uint32_t address_mode(unsigned char mode)
{
	static const uint32_t modes[] = { 0, 3, 1, 4 };

	return modes[mode & 3];
}

bool texture_query(const struct texture_insn *insn, const struct interp_texture *t, uint64_t *result)
{
	unsigned faces = t->cube ? 6 : 1;

	switch (insn->mode) {
	case QUERY_WIDTH: *result = t->size[0]; break;
	case QUERY_HEIGHT: *result = t->dims >= 2 ? t->size[1] : 0; break;
	case QUERY_DEPTH: *result = t->dims >= 3 ? t->size[2] : 0; break;
	case QUERY_TYPE: *result = data_type(t); break;
	case QUERY_ORDER: *result = order(t); break;
	case QUERY_NORMALIZED: *result = t->normalized_coords; break;
	case QUERY_LAYERS: *result = t->layered ? t->size[2] / faces : 0; break;
	case QUERY_LEVELS: *result = 1; break;
	case QUERY_SAMPLES: *result = 1; break;
	case QUERY_UNNORMALIZED: *result = 0; break;
	case QUERY_FILTER: *result = t->linear_filter; break;
	case QUERY_LAYOUT: *result = 0; break;
	default: *result = address_mode(t->address[insn->mode - QUERY_ADDRESS0]); break;
	}
	return true;
}
