/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Sampling, as the CUDA C Programming Guide has it in its appendix on texture fetching. */
#include "texture_ops.h"
#include "alu.h"
#include <math.h>
#include <string.h>

enum { WRAP, CLAMP, MIRROR, BORDER };	/* CU_TR_ADDRESS_MODE_ */

/* Where a sample is: in texels, and in which layer; of integers exact also beyond a float's 24 bits. */
struct place {
	double at[3];
	unsigned dims;
	int64_t layer;
	bool texels;	/* integer coordinates: neither normalized nor filtered */
};

static double float_of(uint64_t v)
{
	uint32_t bits = (uint32_t)v;
	float f;

	memcpy(&f, &bits, 4);
	return f;
}

/* A number as one that an int64_t has: NaN is 0. */
static double sane(double x)
{
	return x > 0x1p40 ? 0x1p40 : x < -0x1p40 ? -0x1p40 : x == x ? x : 0;
}

static int64_t clamp(int64_t i, int64_t n)
{
	return i < 0 ? 0 : i < n ? i : n - 1;
}

static int64_t modulo(int64_t i, int64_t n)
{
	return i % n + (i % n < 0 ? n : 0);
}

/* Returns texel i as the address mode has it, or -1 for the border. */
static int64_t address(unsigned mode, int64_t i, int64_t n)
{
	switch (mode) {
	case WRAP:
		return modulo(i, n);
	case MIRROR:
		i = modulo(i, 2 * n);
		return i < n ? i : 2 * n - 1 - i;
	case BORDER:
		return i >= 0 && i < n ? i : -1;
	default:
		return clamp(i, n);
	}
}

static unsigned mode_of(const struct interp_texture *t, const struct place *p, unsigned i)
{
	unsigned mode = t->address[i];

	if (t->cube)
		return CLAMP;
	/* only normalized coordinates wrap */
	return (p->texels || !t->normalized_coords) && mode != BORDER ? CLAMP : mode;
}

static void border(const struct interp_texture *t, struct texel *texel)
{
	*texel = (struct texel){ .is_float = t->type == 'f' || (t->normalized_read && t->bits < 32) };
	for (unsigned i = 0; i < t->channels; i++) {
		texel->value[i] = t->border[i];
		memcpy(&texel->bits[i], &t->border[i], 4);
		if (!texel->is_float)
			texel->bits[i] = (uint32_t)(int64_t)sane(t->border[i]);
	}
}

/* The texel at these places, by the address modes. */
static void fetch(const struct interp_texture *t, const struct place *p, const int64_t *at, struct texel *texel)
{
	static const unsigned steps[] = { 0, 1, 2 };
	uint64_t addr = t->addr + (uint64_t)p->layer * t->slice;

	for (unsigned i = 0; i < p->dims; i++) {
		int64_t k = address(mode_of(t, p, i), at[i], t->size[i]);

		if (k < 0 || (p->texels && t->linear_memory && (at[i] < 0 || at[i] >= t->size[i]))) {
			border(t, texel);
			if (t->linear_memory)
				memset(texel->bits, 0, sizeof(texel->bits));
			return;
		}
		addr += (uint64_t)k * (steps[i] == 0 ? texel_size(t) : steps[i] == 1 ? t->pitch : t->slice);
	}
	texel_read(t, addr, texel);
}

static void nearest(const struct interp_texture *t, const struct place *p, struct texel *texel)
{
	int64_t at[3];

	for (unsigned i = 0; i < p->dims; i++)
		at[i] = (int64_t)floor(p->at[i]);
	fetch(t, p, at, texel);
}

/* The first of the two texels between which a sample is, and the weight of the second, of which 8 bits are kept. */
static double split(double at, int64_t *first)
{
	double below = floor(at - 0.5);

	*first = (int64_t)below;
	return nearbyint((at - 0.5 - below) * 256) / 256;
}

static void linear(const struct interp_texture *t, const struct place *p, struct texel *texel)
{
	double weight[3], sum[4] = { 0 };
	int64_t first[3], at[3];
	struct texel corner;

	for (unsigned i = 0; i < p->dims; i++)
		weight[i] = split(p->at[i], &first[i]);
	for (unsigned c = 0; c < 1u << p->dims; c++) {
		double share = 1;

		for (unsigned i = 0; i < p->dims; i++) {
			at[i] = first[i] + (c >> i & 1);
			share *= c >> i & 1 ? weight[i] : 1 - weight[i];
		}
		if (share == 0)
			continue;
		fetch(t, p, at, &corner);
		for (unsigned i = 0; i < t->channels; i++)
			sum[i] += share * corner.value[i];
	}
	*texel = (struct texel){ .is_float = true };
	for (unsigned i = 0; i < t->channels; i++) {
		texel->value[i] = (float)sum[i];
		memcpy(&texel->bits[i], &texel->value[i], 4);
	}
}

/* A direction to a face, and to where in it. */
static unsigned face(const double *v, double *at)
{
	double x = fabs(v[0]), y = fabs(v[1]), z = fabs(v[2]), major, s, t;
	unsigned which;

	if (x >= y && x >= z) {
		which = v[0] < 0;
		major = x, s = which ? v[2] : -v[2], t = -v[1];
	} else if (y >= z) {
		which = 2 + (v[1] < 0);
		major = y, s = v[0], t = which == 2 ? v[2] : -v[2];
	} else {
		which = 4 + (v[2] < 0);
		major = z, s = which == 4 ? v[0] : -v[0], t = -v[1];
	}
	at[0] = (s / major + 1) / 2;
	at[1] = (t / major + 1) / 2;
	return which;
}

static bool is_geometry(const struct interp_texture *t, unsigned geometry)
{
	switch (geometry) {
	case GEOM_CUBE: return t->cube && !t->layered;
	case GEOM_ACUBE: return t->cube && t->layered;
	case GEOM_A1D: return t->dims == 1 && t->layered && !t->cube;
	case GEOM_A2D: return t->dims == 2 && t->layered && !t->cube;
	default: return t->dims == geometry && !t->layered && !t->cube;
	}
}

static int64_t layer(const struct interp_texture *t, uint64_t v)
{
	return clamp((int64_t)(uint32_t)v, (t->size[2] ? t->size[2] : 1) / (t->cube ? 6 : 1));
}

static void locate(const struct texture_insn *insn, const struct interp_texture *t, const uint64_t *coord,
		   struct place *p)
{
	unsigned layered = insn->geometry == GEOM_A1D || insn->geometry == GEOM_A2D || insn->geometry == GEOM_ACUBE;
	bool cube = insn->geometry >= GEOM_CUBE;
	double v[3];

	*p = (struct place){ .dims = t->dims, .texels = insn->coord_type == ALU_S32 };
	if (layered)
		p->layer = layer(t, coord[0]);
	if (cube) {
		for (unsigned i = 0; i < 3; i++)
			v[i] = float_of(coord[layered + i]);
		p->layer = p->layer * 6 + face(v, p->at);
	}
	for (unsigned i = 0; i < p->dims; i++) {
		if (!cube)
			p->at[i] = p->texels ? (int32_t)coord[layered + i] : float_of(coord[layered + i]);
		if (cube || (t->normalized_coords && !p->texels))
			p->at[i] *= t->size[i];
		p->at[i] = sane(p->at[i]);
	}
}

/* The four texels that a linear filter would mix, counter-clockwise from the lower left. */
static void gather(const struct interp_texture *t, const struct place *p, unsigned component, uint64_t *result)
{
	static const unsigned char corners[4][2] = { { 0, 1 }, { 1, 1 }, { 1, 0 }, { 0, 0 } };
	int64_t first[2], at[2];
	struct texel texel;

	split(p->at[0], &first[0]);
	split(p->at[1], &first[1]);
	for (unsigned c = 0; c < 4; c++) {
		at[0] = first[0] + corners[c][0];
		at[1] = first[1] + corners[c][1];
		fetch(t, p, at, &texel);
		result[c] = texel.bits[component];
	}
}

bool texture_sample(const struct texture_insn *insn, const struct interp_texture *t, uint64_t *result,
		    const uint64_t *coord)
{
	bool is_float = t->type == 'f' || (t->normalized_read && t->bits < 32);
	struct texel texel;
	struct place p;

	if (!is_geometry(t, insn->geometry))
		return false;
	locate(insn, t, coord, &p);
	if (insn->op == TLD4) {
		gather(t, &p, insn->mode, result);
		return true;
	}
	if (t->linear_filter && is_float && !p.texels)
		linear(t, &p, &texel);
	else
		nearest(t, &p, &texel);
	for (unsigned i = 0; i < 4; i++)
		result[i] = insn->type == ALU_S32 ? (uint64_t)(int32_t)texel.bits[i] : texel.bits[i];
	return true;
}
